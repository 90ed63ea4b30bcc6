// A plan has about twenty kinds of lines, each with its own form. A table maps the first word to a
// method that reads the rest, so a new kind is one row and one method. Each method reports at the
// exact column and adds a hint with the correct form, because models repair modules from these
// messages. A generated parser would give a grammar, but its messages would be general. Reading
// continues after a problem when the rest can still be read. The names of a broken line are
// recorded, so that later lines that use them cause no further messages. The cost: no formal
// grammar exists; docs/kernel-module.md describes it.
#include "kernel/line_reader.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/text.h"
#include "kernel/parse_expr.h"
#include "kernel/plan_names.h"

namespace kw::kernel {

struct LineReader::Keyword {
  std::string_view word;
  bool (LineReader::*read)();
  Role role = Role::Input;
  InputKind kind = InputKind::Input;
};

const std::vector<LineReader::Keyword>& LineReader::keywords() {
  static const std::vector<Keyword> table = {
      {"kernelwright", &LineReader::version_again},
      {"task", &LineReader::task},
      {"recorded", &LineReader::recorded},
      {"input", &LineReader::tensor, Role::Input, InputKind::Input},
      {"param", &LineReader::tensor, Role::Input, InputKind::Param},
      {"saved", &LineReader::tensor, Role::Input, InputKind::Saved},
      {"grad_output", &LineReader::tensor, Role::Input, InputKind::GradOutput},
      {"output", &LineReader::tensor, Role::Output},
      {"inout", &LineReader::tensor, Role::Inout},
      {"scratch", &LineReader::tensor, Role::Scratch},
      {"scalar", &LineReader::scalar},
      {"let", &LineReader::let},
      {"tune", &LineReader::tune},
      {"method", &LineReader::method},
      {"tensormap", &LineReader::tensormap},
      {"when", &LineReader::when},
      {"launch", &LineReader::launch},
      {"repeat", &LineReader::repeat},
      {"end", &LineReader::end},
  };
  return table;
}

bool LineReader::read() {
  if (cursor_.at_end()) return true;
  const size_t begin = cursor_.position();
  const std::string word(cursor_.take_word());
  for (const Keyword& keyword : keywords()) {
    if (keyword.word != word) continue;
    role_ = keyword.role;
    kind_ = keyword.kind;
    return (this->*keyword.read)();
  }
  std::vector<std::string> words;
  for (const Keyword& keyword : keywords()) words.emplace_back(keyword.word);
  if (word.empty()) {
    return cursor_.fail("expected a keyword after '//!', found " + cursor_.found(),
                        "lines start with one of: " + join(words, ", "));
  }
  return cursor_.fail_at(
      begin, begin + word.size(), "unknown line '" + word + "'" + suggestion(word, words),
      "lines start with one of: " + join(words, ", ") + "; use '//' for comments");
}

bool LineReader::version_again() {
  return cursor_.fail_at(cursor_.position_after() - 12, cursor_.position_after(),
                         "the version line is given twice", "keep the first one");
}

bool LineReader::task() {
  const size_t begin = cursor_.position();
  const std::string name(
      cursor_.take_run("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-/"));
  if (name.empty()) return cursor_.fail("expected the task's name, found " + cursor_.found());
  if (draft_.has_task) {
    return cursor_.fail_at(begin, begin + name.size(), "the task is already named",
                           "a module answers one task; keep one 'task' line");
  }
  draft_.has_task = true;
  draft_.module.task = name;
  if (cursor_.accept_word("backward")) draft_.module.backward = true;
  return cursor_.expect_end("the form is 'task NAME' or 'task NAME backward'");
}

bool LineReader::new_name(std::string_view what, std::string& name) {
  const size_t begin = cursor_.position();
  name = std::string(cursor_.take_word());
  if (name.empty()) {
    return cursor_.fail(
        fmt::format("expected the name of the {}, found {}", what, cursor_.found()));
  }
  const std::string problem = reserved_name(name);
  if (!problem.empty()) {
    return cursor_.fail_at(begin, begin + name.size(), fmt::format("'{}' {}", name, problem),
                           "choose another name");
  }
  const auto [at, fresh] =
      draft_.declared.emplace(name, fmt::format("{} in line {}", what, cursor_.line()));
  if (fresh) return true;
  cursor_.fail_at(begin, begin + name.size(),
                  fmt::format("'{}' is already declared ({})", name, at->second),
                  "names are shared by tensors, scalars, lets, tunables and tensormaps");
  return true;  // the rest of the line can still be read
}

bool LineReader::scalar() {
  ScalarDecl decl;
  decl.line = cursor_.line();
  decl.column = cursor_.column();
  if (!new_name("scalar", decl.name)) return false;
  if (!cursor_.expect(":", "the scalar's name")) return false;
  if (!scalar_dtype("a scalar", decl.dtype)) return false;
  if (cursor_.accept("=") && !scalar_default(decl)) return false;
  draft_.module.scalars.push_back(decl);
  return cursor_.expect_end("the form is 'scalar NAME: DTYPE' or 'scalar NAME: DTYPE = VALUE'");
}

bool LineReader::scalar_dtype(const char* what, tensor::DType& type) {
  const size_t begin = cursor_.position();
  if (!dtype(type)) return false;
  using tensor::DType;
  const bool small = type == DType::Fp8e4m3 || type == DType::Fp8e5m2 || type == DType::Fp4e2m1x2 ||
                     type == DType::E8m0;
  if (!small) return true;
  return cursor_.fail_at(begin, cursor_.position_after(),
                         fmt::format("{} cannot be {}", what, tensor::dtype_name(type)),
                         "pass it as fp32 and convert it in the kernel");
}

bool LineReader::scalar_default(ScalarDecl& decl) {
  const size_t begin = cursor_.position();
  if (decl.dtype == tensor::DType::Bool) {
    const std::string_view word = cursor_.take_word();
    if (word != "true" && word != "false") {
      return cursor_.fail_at(begin, begin + std::max<size_t>(word.size(), 1),
                             "a bool is 'true' or 'false'");
    }
    decl.integer = word == "true" ? 1 : 0;
    return true;
  }
  if (!tensor::is_float(decl.dtype)) return integer_default(decl);
  const std::string_view text =
      cursor_.take_run("0123456789+-.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_");
  decl.value = parse_double(text);
  if (!decl.value) {
    return cursor_.fail_at(begin, begin + std::max<size_t>(text.size(), 1),
                           fmt::format("'{}' is not a number", text),
                           "write it like 1e-5, 0.5, -3, inf or nan, without a suffix");
  }
  return true;
}

bool LineReader::integer_default(ScalarDecl& decl) {
  const size_t begin = cursor_.position();
  decl.integer = cursor_.take_integer("an integer");
  if (!decl.integer) return false;
  const auto [low, high] = integer_range(decl.dtype);
  if (*decl.integer >= low && *decl.integer <= high) return true;
  return cursor_.fail_at(
      begin, cursor_.position_after(),
      fmt::format("{} does not fit {}", *decl.integer, tensor::dtype_name(decl.dtype)),
      fmt::format("its values are {} … {}", low, high));
}

bool LineReader::let() {
  LetDecl decl;
  decl.line = cursor_.line();
  decl.column = cursor_.column();
  if (!new_name("let", decl.name)) return false;
  if (cursor_.accept(":")) return number_let(std::move(decl));
  if (!cursor_.expect("=", "the name") || !expression(decl.value)) return false;
  draft_.module.lets.push_back(std::move(decl));
  return cursor_.expect_end("the form is 'let NAME = EXPRESSION'");
}

bool LineReader::number_let(LetDecl decl) {
  NumberDecl number{std::move(decl.name), {}, {}, decl.line, decl.column};
  if (!scalar_dtype("a number", number.dtype)) return false;
  if (!cursor_.expect("=", "the dtype")) return false;
  std::optional<NumberExpr> value = parse_number(cursor_);
  if (!value) return false;
  number.value = std::move(*value);
  draft_.module.numbers.push_back(std::move(number));
  return cursor_.expect_end("the form is 'let NAME: DTYPE = NUMBER'");
}

bool LineReader::expression(Expr& out) {
  std::optional<Expr> expr = parse_expression(cursor_);
  if (!expr) return false;
  out = std::move(*expr);
  return true;
}

bool LineReader::expressions(std::string_view what, size_t least, size_t most,
                             std::vector<Expr>& out) {
  if (!cursor_.expect("(", std::string("'") + std::string(what) + "'")) return false;
  const size_t begin = cursor_.position();
  if (!(least == 0 && cursor_.peek() == ')')) {
    do {
      Expr expr;
      if (!expression(expr)) return false;
      out.push_back(std::move(expr));
    } while (cursor_.accept(","));
  }
  const size_t end = cursor_.position_after();
  if (!cursor_.expect(")", fmt::format("the values of {}", what))) return false;
  if (out.size() <= most) return true;
  return cursor_.fail_at(begin, end,
                         fmt::format("{} takes at most {} value{}, not {}", what, most,
                                     most == 1 ? "" : "s", out.size()));
}

bool LineReader::when() {
  Group group;
  group.line = cursor_.line();
  Expr condition;
  if (!expression(condition)) {
    // The launches that follow still form one group.
    draft_.open_repeat = -1;
    draft_.module.groups.push_back(std::move(group));
    return false;
  }
  group.when = std::move(condition);
  draft_.open_repeat = -1;
  draft_.module.groups.push_back(std::move(group));
  return cursor_.expect_end("the form is 'when CONDITION'");
}

Group& LineReader::open_group() {
  if (draft_.module.groups.empty()) {
    draft_.module.groups.emplace_back();
    draft_.module.groups.back().line = cursor_.line();
  }
  return draft_.module.groups.back();
}

bool LineReader::repeat() {
  RepeatDecl decl;
  decl.line = cursor_.line();
  decl.column = cursor_.column();
  if (draft_.open_repeat >= 0) {
    return cursor_.fail("a 'repeat' inside a 'repeat'", "close the first one with 'end'");
  }
  const std::string form = "the form is 'repeat p in 0..EXPRESSION'";
  const size_t begin = cursor_.position();
  decl.name = std::string(cursor_.take_word());
  if (decl.name.empty()) return cursor_.fail("expected a name, found " + cursor_.found(), form);
  if (const std::string problem = reserved_name(decl.name); !problem.empty()) {
    return cursor_.fail_at(begin, begin + decl.name.size(), "'" + decl.name + "' " + problem);
  }
  if (!cursor_.accept_word("in")) {
    return cursor_.fail("expected 'in' after the name, found " + cursor_.found(), form);
  }
  if (!expression(decl.begin)) return false;
  if (!cursor_.accept("..")) {
    return cursor_.fail("expected '..' after the first value, found " + cursor_.found(), form);
  }
  if (!expression(decl.end)) return false;
  Group& group = open_group();
  draft_.open_repeat = static_cast<int>(group.repeats.size());
  group.repeats.push_back(std::move(decl));
  return cursor_.expect_end(form);
}

bool LineReader::end() {
  if (draft_.open_repeat < 0) {
    return cursor_.fail_at(cursor_.position_after() - 3, cursor_.position_after(),
                           "'end' without a 'repeat' before it");
  }
  draft_.open_repeat = -1;
  return cursor_.expect_end("");
}

void read_plan_line(const PlanLine& line, Draft& draft) {
  const size_t problems = draft.diagnostics.size();
  LineReader(line, draft).read();
  if (draft.diagnostics.size() == problems) return;
  // Names that a broken line would have declared must not be reported as unknown later.
  const std::string_view text = line.text.substr(line.begin, line.end - line.begin);
  for (size_t i = 0; i < text.size(); ++i) {
    if (!is_identifier_start(text[i])) continue;
    const size_t begin = i;
    while (i < text.size() && is_identifier_part(text[i])) ++i;
    draft.broken_names.emplace(text.substr(begin, i - begin));
  }
}

}  // namespace kw::kernel
