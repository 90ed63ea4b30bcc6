// What the front end says when it cannot follow a reference. The first line is the message, the
// rest the hint: the nearest supported form and the way out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "frontend/value.h"

namespace kw::frontend {

inline constexpr const char* kWayOut = "or install torch: then torch.export is used";

/// Library value a supported context manager evaluates to.
inline constexpr const char* kContext = "a context";
/// … in which nothing has a gradient: torch.no_grad().
inline constexpr const char* kNoGradient = "a context without gradients";
/// … in which they have one again: torch.enable_grad().
inline constexpr const char* kGradient = "a context with gradients";

/// The class name of what dataclasses.field(default_factory=…) evaluates to.
inline constexpr const char* kFieldMaker = "a field made anew";

/// What a context or decorator says of gradients, if anything.
std::optional<bool> gradient_in(const Value& context);

/// For a kind of ast node that is not evaluated.
std::string unsupported_syntax(const std::string& kind);
/// A reference that differentiates: its gradients are asked for in another way.
std::string own_task(std::string_view call);
std::string too_many_steps(int64_t limit);
/// A tensor's value steers Python: `if x.sum() > 0`.
std::string value_decides(std::string_view how);
/// A function nobody serves: with the nearest name that is.
std::string unknown_function(const std::string& name);
/// The same for modules of torch.nn.
std::string unknown_module(const std::string& name);

}  // namespace kw::frontend
