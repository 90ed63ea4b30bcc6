#include <fmt/core.h>

#include <array>

#include "ports/compiler.h"
#include "ports/device.h"
#include "ports/journal.h"
#include "ports/judge.h"
#include "ports/oracle.h"

namespace kw::ports {

CompileRequest compile_request(const kernel::Module& module, const kernel::Selection& selection,
                               const std::string& target, double timeout_seconds) {
  CompileRequest request;
  request.source = module.text;
  request.file_name = module.file_name;
  request.target = target;
  request.defines = selection.defines;
  request.kernels = selection.kernels;
  request.timeout_seconds = timeout_seconds;
  return request;
}

std::string first_error(const CompileFailed& failed) {
  if (failed.timed_out) return "the compiler did not finish in time";
  for (const CompileMessage& message : failed.messages) {
    if (message.severity != CompileMessage::Severity::Error) continue;
    return message.line > 0 ? fmt::format("line {}: {}", message.line, message.text) : message.text;
  }
  return failed.crashed ? "the compiler crashed on it" : "it does not compile";
}

Compiler::~Compiler() = default;
Device::~Device() = default;
void Device::recycle(std::vector<tensor::HostTensor>) {}
Oracle::~Oracle() = default;
Judge::~Judge() = default;
Journal::~Journal() = default;
std::string Judge::explain(const record::Candidate&) { return ""; }

Result<Outcome> Judge::examine_one(const record::Candidate& candidate, Depth depth) {
  return KW_TRY(examine({candidate}, depth)).front();
}

Result<std::vector<Outcome>> JudgeDecorator::examine(const Candidates& candidates, Depth depth) {
  return inner_.examine(candidates, depth);
}
Result<std::vector<Outcome>> JudgeDecorator::race(const Candidates& candidates,
                                                  const RaceOptions& options) {
  return inner_.race(candidates, options);
}
Result<Outcome> JudgeDecorator::certify(const record::Candidate& candidate) {
  return inner_.certify(candidate);
}
std::string JudgeDecorator::explain(const record::Candidate& candidate) {
  return inner_.explain(candidate);
}

const char* run_status_name(RunStatus status) {
  constexpr std::array kNames = {"completed",     "stopped",     "faulted", "hung",
                                 "out-of-memory", "worker-lost", "refused"};
  static_assert(kNames.size() == static_cast<size_t>(RunStatus::Refused) + 1);
  return kNames[static_cast<size_t>(status)];
}

}  // namespace kw::ports
