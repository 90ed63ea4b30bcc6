// The fixed words of PTX: types, state spaces, special registers. Maps text to values only.
#pragma once

#include <optional>
#include <string_view>

#include "ptx/ptx_module.h"

namespace kw::ptx {

/// "f16x2" -> Type::F16x2; None when it is not a type.
Type find_type(std::string_view name);
/// "shared", "shared::cta", "param::entry" … -> the space; not set when it is not a space.
std::optional<Space> find_space(std::string_view name);
/// "%tid" with component "x" -> TidX; "%laneid" with "" -> LaneId. "%envreg7" gives EnvReg.
std::optional<Special> find_special(std::string_view name, std::string_view component);
/// True for "%tid" and the other registers that need a component .x, .y or .z.
bool is_vector_special(std::string_view name);

}  // namespace kw::ptx
