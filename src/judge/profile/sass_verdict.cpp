#include "profile/sass_verdict.h"

#include <fmt/core.h>

#include <algorithm>
#include <regex>

#include "core/check.h"

namespace kw::profile {
namespace {

using SassKind = catalog::SassCheck::Kind;
using Functions = std::vector<SassFunction>;

bool same_code(const Functions& a, const Functions& b) {
  const auto same_text = [](const SassInstruction& x, const SassInstruction& y) {
    return x.text() == y.text();
  };
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(), [&](const SassFunction& x, const SassFunction& y) {
        return std::equal(x.code.begin(), x.code.end(), y.code.begin(), y.code.end(), same_text);
      });
}

/// Whether the two counts satisfy the check. Some kinds use only the first count.
bool holds(SassKind kind, int here, int without) {
  switch (kind) {
    case SassKind::Present:
      return here > 0;
    case SassKind::Absent:
      return here == 0;
    case SassKind::More:
      return here > without;
    case SassKind::Fewer:
      return here < without;
    case SassKind::Unrolls:
      break;  // not decided by counting one family
  }
  return false;
}

/// Finds loops that disappeared or that do several iterations at once.
SassCheckResult look_at_loops(SassCheckResult seen, const Functions& kernel,
                              const Functions* without) {
  if (without == nullptr) {
    seen.why = "no kernel without it to compare loops with";
    return seen;
  }
  const auto count = [](const Functions& functions, auto member) {
    size_t sum = 0;
    for (const SassFunction& one : functions) sum += (one.*member).size();
    return sum;
  };
  const size_t loops = count(kernel, &SassFunction::loops);
  const size_t before = count(*without, &SassFunction::loops);
  const size_t code = count(kernel, &SassFunction::code);
  const size_t code_before = count(*without, &SassFunction::code);
  const bool unrolled = loops < before || (before > 0 && code > code_before);
  seen.state = unrolled ? SassState::Verified : SassState::Absent;
  seen.why = fmt::format("{} loops in {} instructions, {} in {} without it", loops, code, before,
                         code_before);
  return seen;
}

SassCheckResult look(const catalog::SassCheck& check, const Functions& kernel,
                     const Functions* without) {
  SassCheckResult seen{check, SassState::Unknown, {}, {}, ""};
  const catalog::Opcodes* opcodes = catalog::find_opcodes(check.opcodes);
  KW_CHECK(opcodes != nullptr, "the catalogue's reader knows every family that a method names");
  if (check.kind == SassKind::Unrolls) return look_at_loops(std::move(seen), kernel, without);
  seen.here = count_opcodes(*opcodes, kernel);
  if (without != nullptr) seen.without = count_opcodes(*opcodes, *without);
  if (!seen.here) {
    seen.why =
        fmt::format("it is not known how {} look on {}", opcodes->title, kernel.front().target);
    return seen;
  }
  const bool compares = check.kind == SassKind::More || check.kind == SassKind::Fewer;
  if (compares && !seen.without) {
    seen.why = fmt::format("{} of {}, and nothing to compare with", *seen.here, check.opcodes);
    return seen;
  }
  seen.state = holds(check.kind, *seen.here, seen.without.value_or(0)) ? SassState::Verified
                                                                       : SassState::Absent;
  seen.why = fmt::format("{} of {}", *seen.here, check.opcodes);
  if (seen.without) seen.why += fmt::format(", {} without it", *seen.without);
  return seen;
}

}  // namespace

const char* sass_state_name(SassState state) {
  constexpr const char* kNames[] = {"verified", "absent", "unknown"};
  return kNames[static_cast<size_t>(state)];
}

std::optional<int> count_opcodes(const catalog::Opcodes& opcodes, const Functions& functions) {
  int count = 0;
  for (const SassFunction& function : functions) {
    const auto pattern = opcodes.pattern(function.target);
    if (!pattern) return std::nullopt;
    const std::regex compiled(*pattern, std::regex::ECMAScript | std::regex::optimize);
    for (const SassInstruction& one : function.code)
      count += std::regex_search(one.text(), compiled);
  }
  return count;
}

SassVerdict sass_verdict(const catalog::Method& method, const Functions& kernel,
                         const Functions* without) {
  SassVerdict verdict;
  if (kernel.empty()) return {SassState::Unknown, "there is no machine code to look at", {}};
  if (without != nullptr && same_code(kernel, *without))
    return {SassState::Absent, "switching it off changes no instruction", {}};
  if (method.sass.empty())
    return {SassState::Unknown, "it is not known how this method shows in machine code", {}};
  for (const catalog::SassCheck& check : method.sass)
    verdict.sightings.push_back(look(check, kernel, without));
  // The first failed check decides, then the first unknown one.
  for (const SassState state : {SassState::Absent, SassState::Unknown, SassState::Verified}) {
    const auto found = std::ranges::find(verdict.sightings, state, &SassCheckResult::state);
    if (found == verdict.sightings.end()) continue;
    verdict.state = state;
    verdict.why = found->why;
    break;
  }
  return verdict;
}

}  // namespace kw::profile
