// Evaluates tensor declarations: shapes, strides, bytes. Internal.
#pragma once

#include "core/result.h"
#include "kernel/module.h"
#include "kernel/program.h"

namespace kw::kernel {

/// One buffer, with its extents and size checked.
Result<Buffer> make_buffer(const TensorDecl& decl, const Scope& scope);

}  // namespace kw::kernel
