// The problem: import reads one call, and a variable that outlives the call can make the next one
// different. The choice: such a variable is accepted only if it is const and its initialiser is a
// number, a text or a property of the device; every other one is a problem, and the recorder, which
// makes many calls, decides. The same holds for objects with code of their own. The alternative,
// following writes and aliases through the file, fails at the first pointer. The cost: a cached
// workspace or a flag for cudaFuncSetAttribute needs nvcc, because it is recorded.
#include "cuda_import/kept_values.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "core/ascii.h"

namespace kw::cuda_import {
namespace {

using Kind = HostValue::Kind;

bool names_only_the_device(const TermRef& term) {
  if (!term) return false;
  if (term->op == TermOp::Name)
    return term->name == "SMS" || term->name == "L2_BYTES" || term->name == "SMEM_MAX";
  return std::ranges::all_of(term->parts, names_only_the_device);
}

bool always_the_same(const HostValue& value) {
  switch (value.kind) {
    case Kind::Integer:
      return !value.assumed && names_only_the_device(value.term);
    case Kind::Real:
    case Kind::Text:
      return true;
    case Kind::Extents:
      return names_only_the_device(value.extents.x) && names_only_the_device(value.extents.y) &&
             names_only_the_device(value.extents.z);
    case Kind::List:
      return std::ranges::all_of(value.items, always_the_same);
    default:
      return false;
  }
}

/// Handles of the runtime: a plan has no streams and no events.
bool is_handle(const std::string& base) { return base == "cudaStream_t" || base == "cudaEvent_t"; }

/// The identifiers in the text of a type.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (is_name_char(c))
      words.back() += c;
    else if (!words.back().empty())
      words.emplace_back();
  }
  return words;
}

}  // namespace

void check_kept(HostState& host, const CType& type, const HostValue& value,
                const cuda_source::Token& name) {
  if (!type.kept || is_handle(type.base)) return;
  if (type.fixed && always_the_same(value)) return;
  host.problem(name, fmt::format("'{}' keeps its value from call to call", name.text),
               "a plan has no state: write 'const' and a constant, or make it a local variable");
}

void check_class(HostState& host, const CType& type, const cuda_source::Token& where) {
  const std::string& base = type.base;
  if (type.pointers > 0 && base.find('<') == std::string::npos) return;
  for (const std::string& word : words_of(base)) {
    if (host.source.classes.count(word) == 0) continue;
    host.problem(where, fmt::format("an object of the class '{}' is not followed", word),
                 "use numbers and functions");
    return;
  }
  static constexpr std::array kFollowed = {"std::vector", "std::array",   "std::string",
                                           "std::pair",   "std::tuple",   "std::function",
                                           "std::chrono", "std::ostring", "std::stringstream",
                                           "cuda",        "std::size_t",  "std::ifstream"};
  const bool plain = type.known() || type.pointers > 0 || base == "auto" || base == "dim3" ||
                     base.find("::") == std::string::npos;
  if (plain ||
      std::ranges::any_of(kFollowed, [&](const char* one) { return base.starts_with(one); }))
    return;
  host.problem(where, fmt::format("an object of type '{}' is not followed", base), "");
}

EffectWatch::EffectWatch(HostState& host)
    : host_(host),
      slots_(host.slots.size()),
      changed_(host.changed),
      launches_(host.out.path.launches.size()),
      scratch_(host.out.path.scratch.size()) {
  host.changed = HostValue::kNoSlot;
}

bool EffectWatch::seen() const {
  return host_.changed < slots_ || host_.out.path.launches.size() != launches_ ||
         host_.out.path.scratch.size() != scratch_;
}

bool EffectWatch::check(const cuda_source::Token& where) {
  const bool found = seen();
  if (found)
    host_.problem(where, "an operand that is not always evaluated changes something",
                  "write an 'if'");
  return found;
}

EffectWatch::~EffectWatch() {
  // A change of a variable that an outer watch knows is a change for it too.
  host_.changed = std::min(host_.changed, changed_);
}

}  // namespace kw::cuda_import
