// The steps of attention that are the same whatever the graph says: device code.
#pragma once

#include <string>
#include <vector>

#include "emit/emit.h"

namespace kw::generate {

/// On tensor cores: NAME_load, NAME_scores, NAME_hide, NAME_lift, NAME_mix and NAME_leave.
/// `causal`: NAME_hide_later too. `empty_is_zero`: a row that saw nothing gives 0, not NaN.
std::string attention_steps(const std::string& name, tensor::DType half, bool causal,
                            bool empty_is_zero);

/// On CUDA cores: NAME_compare, NAME_multiply and NAME_weigh, which calls exact_power_of_two.
std::string plain_attention_steps(const std::string& name);

/// The helpers that the former call.
std::vector<std::string> attention_helpers(tensor::DType half);

}  // namespace kw::generate
