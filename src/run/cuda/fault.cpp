#include "cuda/fault.h"

#include <algorithm>
#include <iterator>

#include "cuda/driver.h"

namespace kw::cuda {
namespace {

using ports::RunStatus;

struct Row {
  CuResult code;
  RunStatus status;
  bool context_lost;
  bool device_lost;
};

// Codes not listed here are refusals: the driver failed before a kernel ran.
constexpr Row kRows[] = {
    {2, RunStatus::OutOfMemory, false, false},  // OUT_OF_MEMORY
    {4, RunStatus::Faulted, true, true},        // DEINITIALIZED
    {46, RunStatus::Faulted, true, true},       // DEVICE_UNAVAILABLE
    {100, RunStatus::Faulted, true, true},      // NO_DEVICE
    {214, RunStatus::Faulted, true, true},      // ECC_UNCORRECTABLE
    {220, RunStatus::Faulted, true, true},      // NVLINK_UNCORRECTABLE
    {226, RunStatus::Faulted, true, false},     // CONTAINED
    {700, RunStatus::Faulted, true, false},     // ILLEGAL_ADDRESS
    {702, RunStatus::Hung, true, false},        // LAUNCH_TIMEOUT
    {709, RunStatus::Faulted, true, false},     // CONTEXT_IS_DESTROYED
    {710, RunStatus::Faulted, true, false},     // ASSERT
    {714, RunStatus::Faulted, true, false},     // HARDWARE_STACK_ERROR
    {715, RunStatus::Faulted, true, false},     // ILLEGAL_INSTRUCTION
    {716, RunStatus::Faulted, true, false},     // MISALIGNED_ADDRESS
    {717, RunStatus::Faulted, true, false},     // INVALID_ADDRESS_SPACE
    {718, RunStatus::Faulted, true, false},     // INVALID_PC
    {719, RunStatus::Faulted, true, false},     // LAUNCH_FAILED
    {721, RunStatus::Faulted, true, false},     // TENSOR_MEMORY_LEAK
    {802, RunStatus::Faulted, true, true},      // SYSTEM_NOT_READY
    {810, RunStatus::Faulted, true, false},     // MPS_CLIENT_TERMINATED
    {999, RunStatus::Faulted, true,
     false},  // UNKNOWN: the canary run afterwards tells whether the device is lost
};

}  // namespace

Fault make_fault(const Driver& driver, CuResult code, const std::string& doing) {
  Fault fault;
  fault.code = code;
  fault.message = doing + ": " + driver.error_text(code);
  const Row* row =
      std::ranges::find_if(kRows, [&](const Row& candidate) { return candidate.code == code; });
  if (row != std::end(kRows)) {
    fault.status = row->status;
    fault.context_lost = row->context_lost;
    fault.device_lost = row->device_lost;
  }
  return fault;
}

Fault refusal(std::string why) {
  Fault fault;
  fault.message = std::move(why);
  return fault;
}

}  // namespace kw::cuda
