// Switches for methods that a schedule always uses: shuffles, unrolled loops, pointers that do not
// overlap, rows split over blocks. They show the value of each method. Without them modules are
// shorter and the search space is smaller.
#pragma once

#include <string>
#include <vector>

#include "plan/module_text.h"

namespace kw::generate {

/// Makes a kernel's split into parts a choice. Must be called before the kernel's text is written.
void add_split_switch(Kernel& kernel);

/// Device code that tests the switches, and the tunables and methods that they add.
struct Switched {
  std::string code;
  std::vector<Tune> tunes;
  std::vector<Method> methods;
};
Switched with_switches(const std::string& code);

}  // namespace kw::generate
