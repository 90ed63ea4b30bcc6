#include "kernel/methods.h"

#include <algorithm>

#include "core/contains.h"
#include "core/text.h"
#include "kernel/bind.h"

namespace kw::kernel {
namespace {

using Tunes = std::map<std::string, int64_t>;

/// Takes the next word from the front.
std::string_view next_word(std::string_view& rest) {
  rest = trim(rest);
  const size_t end = std::min(rest.find_first_of(" \t"), rest.size());
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(end);
  return word;
}

/// "//! tune    THREADS in 128, 256 where …" with its value moved to the front of the list. Any
/// other line is returned unchanged.
std::string tune_line(std::string_view line, const Tunes& tunes) {
  std::string_view rest = trim(line);
  if (!rest.starts_with("//!")) return std::string(line);
  rest.remove_prefix(3);
  if (next_word(rest) != "tune") return std::string(line);
  const auto tune = tunes.find(std::string(next_word(rest)));
  if (tune == tunes.end() || next_word(rest) != "in") return std::string(line);
  const size_t begin = static_cast<size_t>(rest.data() - line.data());
  const size_t where = std::min(line.find("where", begin), line.size());
  std::vector<std::string> values = {std::to_string(tune->second)};
  for (const std::string& item : split(line.substr(begin, where - begin), ',')) {
    const std::string one(trim(item));
    if (one != values.front()) values.push_back(one);
  }
  const std::string list = " " + join(values, ", ");
  return std::string(line.substr(0, begin)) + list + (where < line.size() ? " " : "") +
         std::string(line.substr(where));
}

bool claims(const Module& module, const MethodDecl& method, const Tunes& tunes) {
  if (!method.when) return true;
  Scope scope;
  scope.values = tunes;
  for (const LetDecl& let : module.lets) scope.lets[let.name] = &let.value;
  const Result<int64_t> on = evaluate(*method.when, scope);
  return !on || *on != 0;
}

/// The assignment nearest to `before` with the switch set. It first keeps all other tunables, then
/// frees one of them, then frees all.
Result<Tunes> nearest(const Module& module, const Tunes& before, const Tunes& off) {
  Tunes wanted = before;
  for (const auto& [name, value] : off) wanted[name] = value;
  if (auto same = resolve_tunes(module, wanted)) return same;
  for (const auto& [name, value] : before) {
    if (off.count(name) > 0) continue;
    Tunes fewer = wanted;
    fewer.erase(name);
    if (auto one = resolve_tunes(module, fewer)) return one;
  }
  return resolve_tunes(module, off);
}

}  // namespace

Result<Tunes> default_tunes(const Module& module) { return resolve_tunes(module, {}); }

std::string with_tunes(const std::string& text, const Tunes& tunes) {
  std::string out;
  for (const std::string_view line : split_lines(text)) out += tune_line(line, tunes) + "\n";
  return out;
}

std::vector<std::string> active_methods(const Module& module, const Tunes& tunes) {
  std::vector<std::string> ids;
  for (const MethodDecl& method : module.methods) {
    if (claims(module, method, tunes) && !contains(ids, method.id)) ids.push_back(method.id);
  }
  return ids;
}

Result<SwitchedOff> without_method(const Module& module, const std::string& id) {
  const Tunes before = KW_TRY(default_tunes(module));
  const MethodDecl* found = nullptr;
  for (const MethodDecl& method : module.methods) {
    if (method.id == id && claims(module, method, before) && found == nullptr) found = &method;
  }
  if (found == nullptr) return input_error("the kernel does not claim {}", id);
  if (found->off.empty()) return input_error("the method line of {} has no 'off'", id);
  const Tunes off(found->off.begin(), found->off.end());
  SwitchedOff result;
  result.tunes = KW_TRY(nearest(module, before, off));
  result.text = with_tunes(module.text, result.tunes);
  const std::vector<std::string> left = active_methods(module, result.tunes);
  for (const std::string& other : active_methods(module, before)) {
    if (other != id && !contains(left, other)) result.also_off.push_back(other);
  }
  for (const auto& [name, value] : result.tunes) {
    if (off.count(name) == 0 && before.at(name) != value) result.moved.push_back(name);
  }
  return result;
}

}  // namespace kw::kernel
