// Whether the machine code of a kernel shows the method that the kernel claims: verified, absent or
// unknown. Unknown never counts as verified.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "profile/sass.h"

namespace kw::profile {

enum class SassState : uint8_t { Verified, Absent, Unknown };
const char* sass_state_name(SassState state);

/// The result of one check of a method's signature.
struct SassCheckResult {
  catalog::SassCheck check;
  SassState state = SassState::Unknown;
  std::optional<int> here, without;  // matching instructions
  std::string why;                   // "14 of wide_global, 0 without it"
};

struct SassVerdict {
  SassState state = SassState::Unknown;
  std::string why;  // one line
  std::vector<SassCheckResult> sightings;
};

/// The number of instructions of the family in all functions; not set: unknown for the target.
std::optional<int> count_opcodes(const catalog::Opcodes& opcodes,
                                 const std::vector<SassFunction>& functions);

/// `without`: the same kernel with the method switched off, or its parent; null when there is none.
SassVerdict sass_verdict(const catalog::Method& method, const std::vector<SassFunction>& kernel,
                         const std::vector<SassFunction>* without);

}  // namespace kw::profile
