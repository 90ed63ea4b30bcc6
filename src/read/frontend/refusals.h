// Messages for references that the front end cannot read. The first line is the message. The other
// lines are hints: the nearest supported form, and the alternative.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "frontend/value.h"

namespace kw::frontend {

inline constexpr const char* kWayOut = "or install torch: then torch.export is used";

/// The library value of a supported context manager.
inline constexpr const char* kContext = "a context";
/// The same for contexts without gradients, such as torch.no_grad().
inline constexpr const char* kNoGradient = "a context without gradients";
/// The same for contexts with gradients, such as torch.enable_grad().
inline constexpr const char* kGradient = "a context with gradients";

/// The class name of the value of dataclasses.field(default_factory=…).
inline constexpr const char* kFieldMaker = "a field of a dataclass";

/// Whether a context or decorator switches gradients on or off; not set if it does neither.
std::optional<bool> gradient_in(const Value& context);

/// For a kind of ast node that the tracer does not support.
std::string unsupported_syntax(const std::string& kind);
/// For a reference that differentiates: gradients are a separate task.
std::string own_task(std::string_view call);
std::string too_many_steps(int64_t limit);
/// For a tensor's value that decides what Python does: `if x.sum() > 0`.
std::string value_decides(std::string_view how);
/// For an unknown function, with the nearest known name.
std::string unknown_function(const std::string& name);
/// For an unknown module of torch.nn.
std::string unknown_module(const std::string& name);

}  // namespace kw::frontend
