// A failure on a device, classified by the driver's result: who caused it, and what is lost. A
// Fault is ordinary data about a candidate. Errors (core/result.h) are for failures that no
// candidate caused.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "core/result.h"
#include "cuda/driver_api.h"
#include "ports/device.h"

namespace kw::cuda {

class Driver;

struct Fault {
  ports::RunStatus status = ports::RunStatus::Refused;
  bool context_lost = false;  // this process cannot use the device any more
  bool device_lost = false;   // probably no process can: the candidate is not the cause
  CuResult code = 0;
  std::string message;
};

/// Classifies the driver's result. `doing` is put before a colon: "running k<2>".
Fault make_fault(const Driver& driver, CuResult code, const std::string& doing);
/// The device cannot do this; the context is still usable.
Fault refusal(std::string why);

/// A value, or a Fault instead. Works with KW_TRY.
template <typename T>
class [[nodiscard]] FaultOr {
 public:
  FaultOr(T value) : v_(std::in_place_index<0>, std::move(value)) {}
  FaultOr(Fault fault) : v_(std::in_place_index<1>, std::move(fault)) {}

  explicit operator bool() const { return v_.index() == 0; }
  T& operator*() & { return std::get<0>(v_); }
  T* operator->() { return &std::get<0>(v_); }
  T&& value() && { return std::get<0>(std::move(v_)); }
  const Fault& error() const& { return std::get<1>(v_); }
  Fault&& error() && { return std::get<1>(std::move(v_)); }

 private:
  std::variant<T, Fault> v_;
};
using MaybeFault = FaultOr<Done>;

}  // namespace kw::cuda
