#include "exec/compiler.h"
#include "exec/device.h"
#include "exec/oracle.h"

namespace kw::exec {

Compiler::~Compiler() = default;
Device::~Device() = default;
void Device::recycle(std::vector<tensor::HostTensor>) {}
Oracle::~Oracle() = default;

const char* run_status_name(RunStatus status) {
  switch (status) {
    case RunStatus::Completed: return "completed";
    case RunStatus::Stopped: return "stopped";
    case RunStatus::Faulted: return "faulted";
    case RunStatus::Hung: return "hung";
    case RunStatus::OutOfMemory: return "out-of-memory";
    case RunStatus::WorkerLost: return "worker-lost";
    case RunStatus::Refused: return "refused";
  }
  return "refused";
}

}  // namespace kw::exec
