// Finds which bytes of its parameters a kernel reads. The other bytes are padding: compilers do not
// set them, so they differ from call to call without meaning.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace kw::host_recording {

/// By entry, per parameter, whether each byte is read. If the parameter's address is taken, all
/// bytes count as read.
using ParamReads = std::map<std::string, std::vector<std::vector<bool>>>;
ParamReads param_reads(const std::string& ptx);

}  // namespace kw::host_recording
