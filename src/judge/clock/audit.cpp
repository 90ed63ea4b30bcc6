#include "clock/audit.h"

#include <fmt/core.h>

#include "kernel/caller_buffers.h"
#include "ports/audit_hash.h"

namespace kw::clock {
namespace {

/// The name of the n-th buffer a program returns.
std::string returned_name(const kernel::Program& program, size_t n) {
  for (const kernel::Buffer& buffer : program.buffers) {
    if (is_returned(buffer) && n-- == 0) return buffer.name;
  }
  return "?";
}

}  // namespace

std::vector<uint64_t> expected_hashes(const kernel::Program& program,
                                      const std::vector<tensor::HostTensor>& outputs,
                                      uint64_t hash_seed) {
  std::vector<uint64_t> hashes;
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    if (is_returned(program.buffers[i]))
      hashes.push_back(ports::audit_hash(outputs[i].data, hash_seed));
  }
  return hashes;
}

std::optional<std::string> find_mismatch(const kernel::Program& program, const AuditPlan& plan,
                                         const ports::TimedResult& result) {
  for (const record::Finding& finding : result.findings) {
    if (finding.certainty == record::Certainty::Certain)
      return "after the timed calls: " + finding.message;
  }
  if (plan.expected.empty()) return std::nullopt;
  for (const record::CallAudit& audit : result.audits) {
    const auto entry = static_cast<size_t>(audit.entry);
    if (audit.entry < 0 || entry >= plan.expected.size())
      return fmt::format("a timed call names inputs {} of {}", entry, plan.expected.size());
    const std::vector<uint64_t>& wanted = plan.expected[entry];
    if (audit.hashes.size() != wanted.size())
      return fmt::format("a timed call has {} outputs instead of {}", audit.hashes.size(),
                         wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (audit.hashes[i] == wanted[i]) continue;
      return fmt::format(
          "the output '{}' of a timed call (sample {}, inputs {}) is not the verified one: its "
          "hash "
          "is {:016x}, {:016x} was verified",
          returned_name(program, i), audit.sample, entry, audit.hashes[i], wanted[i]);
    }
  }
  return std::nullopt;
}

}  // namespace kw::clock
