// Switches for what a schedule always does: shuffles, unrolled loops, pointers that do not overlap,
// rows split over blocks. With them the worth of each can be shown; without them modules are
// shorter and a search has less to try.
#pragma once

#include <string>
#include <vector>

#include "plan/module_text.h"

namespace kw::generate {

/// A kernel's split into parts becomes a choice. Before its text is written.
void add_split_switch(Kernel& kernel);

/// Device code in which the switches are tested, and the tunables and methods that this adds.
struct Switched {
  std::string code;
  std::vector<Tune> tunes;
  std::vector<Method> methods;
};
Switched with_switches(const std::string& code);

}  // namespace kw::generate
