// Which program our worker processes are started from. For a library inside somebody else's
// process: there the running binary is not ours.
#pragma once

#include <string>

namespace kw::os {

/// From now on self_path() answers this. Before any thread asks for it.
void set_own_program(std::string path);

}  // namespace kw::os
