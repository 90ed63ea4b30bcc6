// Device code for the steps of attention that do not depend on the graph.
#pragma once

#include <string>
#include <vector>

#include "emit/emit.h"

namespace kw::generate {

/// On tensor cores: NAME_load, NAME_scores, NAME_hide, NAME_lift, NAME_mix and NAME_leave. `causal`
/// adds NAME_hide_later. `empty_is_zero`: a row without visible keys gives 0, not NaN.
std::string attention_steps(const std::string& name, DType half, bool causal, bool empty_is_zero);

/// On CUDA cores: NAME_compare, NAME_multiply and NAME_weigh, which calls exact_power_of_two.
std::string plain_attention_steps(const std::string& name);

/// The helpers that attention_steps() calls.
std::vector<std::string> attention_helpers(DType half);

}  // namespace kw::generate
