// Runs a batch as a kernel on any device.
#pragma once

#include "batch.h"
#include "ports/device.h"

namespace kw::alu_fuzz {

/// The outputs, laid out as Batch::judge wants them. A run that did not complete, or on which the
/// virtual GPU found anything, is an Error.
Result<std::vector<uint64_t>> run_on_device(const Batch& batch, ports::Device& device,
                                            int ptx_version, const std::string& target);

}  // namespace kw::alu_fuzz
