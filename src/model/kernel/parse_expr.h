// Expressions out of plan lines, and alone.
#pragma once

#include <optional>
#include <string>

#include "kernel/cursor.h"
#include "kernel/expr.h"

namespace kw::kernel {

/// Parses as far as an expression goes; reports and gives nothing when there is none or it is
/// malformed. Names are not resolved here.
std::optional<Expr> parse_expression(Cursor& cursor);

/// All of a text as an expression.
std::optional<Expr> parse_expression(const std::string& text);

/// Takes a kernel name with its template arguments, blanks normalised: "ns::rms_norm<THREADS,
/// VEC>".
std::optional<std::string> parse_kernel_name(Cursor& cursor);

}  // namespace kw::kernel
