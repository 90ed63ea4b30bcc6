// The tables of op rows that call.h does not declare. For ops*.cpp and the importer only.
#pragma once

#include <span>
#include <string_view>

#include "frontend/call.h"

namespace kw::frontend {

std::span<const OpRow> arithmetic_rows();
std::span<const OpRow> cast_rows();
std::span<const OpRow> indexing_rows();
std::span<const OpRow> distance_rows();
std::span<const OpRow> einsum_rows();
std::span<const OpRow> joining_rows();
std::span<const OpRow> conv_rows();
std::span<const OpRow> pool_rows();
std::span<const OpRow> pad_rows();
std::span<const OpRow> attention_rows();
std::span<const OpRow> interpolate_rows();
std::span<const OpRow> recurrent_rows();
std::span<const OpRow> helper_rows();

}  // namespace kw::frontend
