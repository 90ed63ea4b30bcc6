// What device code may learn about the machine it runs on. A result must not depend on time, on the
// SM or on the number of the launch, so only the special registers of a list may be read. Clocks
// may only time the back-off of a loop that polls memory, as the headers of CUDA do.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ptx/ptx_module.h"

namespace kw::ptx {

struct ForbiddenRead {
  int ptx_line = 0;
  std::string message;  // "reads %smid", "stores a value that depends on %globaltimer"
};

/// All reads of special registers that a module may not make, in these kernels and in functions. No
/// kernel named: in all of them.
std::vector<ForbiddenRead> forbidden_reads(const Module& module,
                                           const std::vector<std::string>& kernels = {});
/// The same for a text. A text that cannot be parsed is judged by the names that it contains.
std::vector<ForbiddenRead> forbidden_reads(std::string_view text,
                                           const std::vector<std::string>& kernels = {});

/// What to do instead.
extern const char* const kForbiddenReadHint;

}  // namespace kw::ptx
