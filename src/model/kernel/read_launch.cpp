// Reads the plan lines that say what runs and how it may vary: launch, tune, method. The clauses of
// a launch may come in any order, because authors and models write them so; each may occur once. A
// fixed order would be simpler, but would refuse correct launches for their layout. Missing clauses
// are reported together after the line was read. An unknown method id is reported, but the line is
// read on. The cost: the list of seen clauses, checked by name.
#include <fmt/core.h>

#include <algorithm>

#include "catalog/catalog.h"
#include "core/contains.h"
#include "core/text.h"
#include "kernel/line_reader.h"
#include "kernel/parse_expr.h"
#include "kernel/plan_names.h"

namespace kw::kernel {

// The methods of the axis in the id, or the list of axes.
static std::string methods_hint(std::string_view id) {
  const std::string_view axis = id.substr(0, id.find('.'));
  std::vector<std::string> names;
  for (const catalog::Method& method : catalog::methods()) {
    if (method.axis == axis) names.push_back(method.id.substr(method.id.find('.') + 1));
  }
  if (names.empty())
    return "ids start with compute., memory. or latency.; see 'kernelwright catalog'";
  return "known under " + std::string(axis) + ".: " + join(names, ", ");
}

bool LineReader::tune() {
  TuneDecl decl;
  decl.line = cursor_.line();
  decl.column = cursor_.column();
  const size_t begin = cursor_.position();
  if (!new_name("tunable", decl.name)) return false;
  if (const std::string problem = bad_tunable_name(decl.name); !problem.empty()) {
    return cursor_.fail_at(begin, begin + decl.name.size(), "'" + decl.name + "' " + problem,
                           "a tunable becomes a macro; use capitals, as in THREADS or VEC");
  }
  if (!cursor_.accept_word("in")) {
    return cursor_.fail("expected 'in' after the tunable's name, found " + cursor_.found(),
                        "the form is 'tune NAME in 1, 2, 4 [where CONDITION]'");
  }
  if (!tune_values(decl)) return false;
  if (cursor_.accept_word("where")) {
    Expr condition;
    if (!expression(condition)) return false;
    decl.where = std::move(condition);
  }
  draft_.module.tunes.push_back(std::move(decl));
  return cursor_.expect_end("the form is 'tune NAME in 1, 2, 4 [where CONDITION]'");
}

bool LineReader::tune_values(TuneDecl& decl) {
  do {
    const size_t begin = cursor_.position();
    const std::optional<int64_t> value = cursor_.take_integer("a value");
    if (!value) return false;
    if (contains(decl.values, *value)) {
      cursor_.fail_at(begin, cursor_.position_after(), fmt::format("{} is given twice", *value));
    }
    decl.values.push_back(*value);
  } while (cursor_.accept(","));
  return true;
}

bool LineReader::method() {
  MethodDecl decl;
  decl.line = cursor_.line();
  decl.column = cursor_.column();
  const std::string form = "the form is 'method ID [when CONDITION][, off NAME=VALUE[, …]]'";
  const size_t begin = cursor_.position();
  decl.id = std::string(
      cursor_.take_run("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_."));
  if (decl.id.empty())
    return cursor_.fail("expected a method's id, found " + cursor_.found(), form);
  if (catalog::find(decl.id) == nullptr) {
    cursor_.fail_at(begin, begin + decl.id.size(),
                    "unknown method '" + decl.id + "'" + suggestion(decl.id, catalog::ids()),
                    methods_hint(decl.id));
  }
  if (cursor_.accept_word("when")) {
    Expr condition;
    if (!expression(condition)) return false;
    decl.when = std::move(condition);
  }
  if (cursor_.accept(",") && !method_off(decl)) return false;
  draft_.module.methods.push_back(std::move(decl));
  return cursor_.expect_end(form);
}

bool LineReader::method_off(MethodDecl& decl) {
  if (!cursor_.accept_word("off")) {
    return cursor_.fail("expected 'off' after the comma, found " + cursor_.found(),
                        "'off NAME=VALUE' says how to switch the method off");
  }
  do {
    const std::string name(cursor_.take_word());
    if (name.empty()) return cursor_.fail("expected a tunable's name, found " + cursor_.found());
    if (!cursor_.expect("=", "'" + name + "'")) return false;
    const std::optional<int64_t> value = cursor_.take_integer("a value");
    if (!value) return false;
    decl.off.emplace_back(name, *value);
  } while (cursor_.accept(","));
  return true;
}

bool LineReader::launch() {
  LaunchDecl decl;
  decl.line = cursor_.line();
  decl.column = cursor_.column();
  decl.repeat = draft_.open_repeat;
  const size_t begin = cursor_.position();
  Group& group = open_group();
  const std::optional<std::string> kernel = parse_kernel_name(cursor_);
  if (!kernel) return false;
  decl.kernel = *kernel;
  const size_t end = cursor_.position_after();
  std::vector<std::string> seen;
  while (!cursor_.at_end()) {
    if (!launch_clause(decl, seen)) return false;
  }
  const bool recorded = !draft_.module.recorded.empty();
  for (const char* clause : {"grid", "block", recorded ? "params" : "args"}) {
    if (contains(seen, clause)) continue;
    cursor_.fail_at(begin, end, fmt::format("this launch has no {}(…)", clause),
                    recorded ? "the form is 'launch ENTRY grid(…) block(…) [shared(…)] params(…)'"
                             : "the form is 'launch NAME grid(…) block(…) [shared(…)] args(…)'");
  }
  group.launches.push_back(std::move(decl));
  return true;
}

bool LineReader::launch_clause(LaunchDecl& decl, std::vector<std::string>& seen) {
  static const std::vector<std::string> kClauses = {"grid",        "block", "shared", "cluster",
                                                    "cooperative", "pdl",   "args",   "params"};
  const size_t begin = cursor_.position();
  const std::string word(cursor_.take_word());
  const size_t end = begin + std::max<size_t>(word.size(), 1);
  if (!contains(kClauses, word)) {
    return cursor_.fail_at(
        begin, end,
        word.empty() ? "unexpected " + (cursor_.move_to(begin), cursor_.found()) + " in the launch"
                     : "unknown launch clause '" + word + "'" + suggestion(word, kClauses),
        "a launch takes grid, block, shared, cluster, cooperative, pdl and args");
  }
  if (contains(seen, word)) {
    return cursor_.fail_at(begin, end, "'" + word + "' is given twice in this launch");
  }
  seen.push_back(word);
  if (word == "grid") return expressions(word, 1, 3, decl.grid);
  if (word == "block") return expressions(word, 1, 3, decl.block);
  if (word == "cluster") return expressions(word, 1, 3, decl.cluster);
  if (word == "args") return expressions(word, 0, 1000, decl.args);
  if (word == "params") return recorded_params(decl);
  if (word == "cooperative") decl.cooperative = true;
  if (word == "pdl") decl.pdl = true;
  if (word == "shared") {
    std::vector<Expr> bytes;
    if (!expressions(word, 1, 1, bytes)) return false;
    decl.shared = std::move(bytes.front());
  }
  return true;
}

}  // namespace kw::kernel
