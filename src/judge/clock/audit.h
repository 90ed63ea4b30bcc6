// Whether what was timed is what was verified. Timed outputs come as hashes made on the device; the
// verified ones are hashed here, in a process that never ran a candidate.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ports/device.h"

namespace kw::clock {

/// Why a copied call's outputs are wrong, or nothing. `entry` of the call names its inputs.
using JudgeCall =
    std::function<std::optional<std::string>(size_t program, const ports::CopiedCall& call)>;

/// What is known about one program's outputs.
struct AuditPlan {
  /// [entry][returned buffer]: audit_hash of the verified outputs. Empty when the program is not
  /// deterministic: then calls are drawn and judged one by one.
  std::vector<std::vector<uint64_t>> expected;
  bool deterministic = true;
};

/// Hashes of one entry's verified outputs (parallel to the program's buffers), in the order in
/// which the device reports them.
std::vector<uint64_t> expected_hashes(const kernel::Program& program,
                                      const std::vector<tensor::HostTensor>& outputs,
                                      uint64_t hash_seed);

/// The first thing that is not as verified, in words; nothing when all is well.
std::optional<std::string> find_mismatch(const kernel::Program& program, const AuditPlan& plan,
                                         const ports::TimedResult& result);

}  // namespace kw::clock
