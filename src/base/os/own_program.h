// The program that our worker processes are started from. Needed when we are a library inside
// another program: there the running binary is not ours.
#pragma once

#include <string>

#include "core/result.h"

namespace kw::os {

/// From now on self_path() returns this. Call it before any thread calls self_path().
void set_own_program(std::string path);

/// The program that workers are started from: $KERNELWRIGHT_WORKER, which must be absolute,
/// otherwise self_path().
Result<std::string> worker_program();

/// The build folder, when the running binary lies in it; "" once the binary was copied or
/// installed. tools/setup puts files there that the programs of the build may use.
std::string build_folder();

}  // namespace kw::os
