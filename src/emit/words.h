// The words of device code that are used here by their own names.
#pragma once

#include "wording/approx.h"
#include "wording/helpers.h"
#include "wording/math.h"
#include "wording/names.h"
#include "wording/types.h"
#include "wording/writer.h"

namespace kw::emit {

using wording::CudaWriter;
using wording::device_functions;
using wording::Expr;
using wording::find_shortcut;
using wording::from_memory;
using wording::header_of;
using wording::helper_functions;
using wording::in_float;
using wording::is_costly;
using wording::is_floating;
using wording::is_half;
using wording::is_helper;
using wording::is_integer;
using wording::kFastMath;
using wording::literal;
using wording::memory_type;
using wording::pointwise_text;
using wording::register_type;
using wording::reserved_words;
using wording::safe_name;
using wording::Shortcut;
using wording::to_memory;

}  // namespace kw::emit
