// Checks that the timed calls gave the verified outputs. The device hashes the timed outputs. The
// judge hashes the verified outputs in this process, which never runs a candidate.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ports/device.h"

namespace kw::clock {

/// Returns why the outputs of a copied call are wrong; not set when they are right. `call.entry` is
/// the index of its inputs.
using JudgeCall =
    std::function<std::optional<std::string>(size_t program, const ports::CopiedCall& call)>;

/// The expected outputs of one program.
struct AuditPlan {
  /// [entry][returned buffer]: audit_hash of the verified outputs. Empty when the program is not
  /// deterministic: the judge then compares a few copied calls one by one.
  std::vector<std::vector<uint64_t>> expected;
  bool deterministic = true;
};

/// Returns the hashes of one entry's verified outputs, in the order in which the device reports
/// them. `outputs` is parallel to the program's buffers.
std::vector<uint64_t> expected_hashes(const kernel::Program& program,
                                      const std::vector<tensor::HostTensor>& outputs,
                                      uint64_t hash_seed);

/// Returns the first difference from the verified outputs as a message; not set when there is none.
std::optional<std::string> find_mismatch(const kernel::Program& program, const AuditPlan& plan,
                                         const ports::TimedResult& result);

}  // namespace kw::clock
