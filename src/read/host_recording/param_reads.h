// Which bytes of its parameters a kernel reads. The rest is padding, which a compiler leaves as it
// was: it differs from call to call and means nothing.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace kw::host_recording {

/// By entry, per parameter, whether each byte is read. Where an address is taken, all of them are.
using ParamReads = std::map<std::string, std::vector<std::vector<bool>>>;
ParamReads param_reads(const std::string& ptx);

}  // namespace kw::host_recording
