// What a confined process is promised not to do, as properties, and what provides each of them on
// this machine. Several parts of the Linux kernel provide the same property, so an old kernel need
// not miss it. Where one is missing, sandbox/sandbox.h refuses to start the process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sandbox/calls.h"

namespace kw::sandbox {

/// The parts of a Linux kernel that matter here.
struct KernelFacts {
  long landlock = 0;         // version of the interface; 0 = none
  bool call_filter = false;  // seccomp, and an architecture with a list of calls
  std::string no_landlock;   // why there is none
};
KernelFacts this_kernel();

struct Property {
  const char* name;      // "files"
  const char* promise;   // "reads and writes only its own files"
  std::string provider;  // "Landlock 7"; "" when nothing provides it
  std::string missing;   // why nothing does
};
/// All properties, in the order that doctor shows.
std::vector<Property> properties_on(const KernelFacts& kernel);
Signals signals_on(const KernelFacts& kernel);

}  // namespace kw::sandbox
