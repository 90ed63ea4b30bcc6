// What went wrong on a device, told by the driver's answer: whose doing it is, and what is lost
// with it. Ordinary data about a candidate; Errors (base/result.h) are for what is not the
// candidate's doing.
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
  bool context_lost = false;  // this process can use the device no more
  bool device_lost = false;   // nor, it seems, can any other: not the candidate's doing
  CuResult code = 0;
  std::string message;
};

/// Sorts the driver's answer. `doing` reads before a colon: "running k<2>".
Fault make_fault(const Driver& driver, CuResult code, const std::string& doing);
/// The device does not take this; nothing was lost.
Fault refusal(std::string why);

/// A value, or the Fault instead of it. Works with KW_TRY.
template <typename T>
class [[nodiscard]] Got {
 public:
  Got(T value) : v_(std::in_place_index<0>, std::move(value)) {}
  Got(Fault fault) : v_(std::in_place_index<1>, std::move(fault)) {}

  explicit operator bool() const { return v_.index() == 0; }
  T& operator*() & { return std::get<0>(v_); }
  T* operator->() { return &std::get<0>(v_); }
  T&& value() && { return std::get<0>(std::move(v_)); }
  const Fault& error() const& { return std::get<1>(v_); }
  Fault&& error() && { return std::get<1>(std::move(v_)); }

 private:
  std::variant<T, Fault> v_;
};
using Went = Got<Done>;

}  // namespace kw::cuda
