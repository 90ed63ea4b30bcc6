// Runs a batch straight through isa/, one case at a time, without a machine around it.
#pragma once

#include "batch.h"
#include "core/result.h"
#include "isa/table.h"

namespace kw::alu_fuzz {

/// The outputs, laid out as Batch::judge wants them. An Error names the case that did not parse or
/// decode.
Result<std::vector<uint64_t>> run_on_isa(const Batch& batch, isa::Level level);

}  // namespace kw::alu_fuzz
