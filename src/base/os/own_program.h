// Which program our worker processes are started from. For a library inside somebody else's
// process: there the running binary is not ours.
#pragma once

#include <string>

#include "core/result.h"

namespace kw::os {

/// From now on self_path() answers this. Before any thread asks for it.
void set_own_program(std::string path);

/// The program that workers are started from: $KERNELWRIGHT_WORKER, which must be absolute, else
/// self_path().
Result<std::string> worker_program();

/// The build folder the running binary was made in, and is still in; "" once it was copied or
/// installed. tools/setup puts there what the build's own programs may use.
std::string build_folder();

}  // namespace kw::os
