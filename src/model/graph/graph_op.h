// The primitive ops under the names that graphs use.
#pragma once

#include "ops/op.h"

namespace kw::graph {

using ops::between;
using ops::kOps;
using ops::Op;
using ops::op_from_name;
using ops::op_info;
using ops::OpInfo;
using ops::OpKind;

}  // namespace kw::graph
