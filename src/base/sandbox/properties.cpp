#include "sandbox/properties.h"

#include <fmt/core.h>

#include "os/landlock.h"

namespace kw::sandbox {
namespace {

constexpr long kScopes = 6;  // from this version Landlock keeps signals inside
constexpr const char* kNoCalls =
    "this kernel or architecture has no filter of system calls (seccomp)";
constexpr const char* kList = "the list of system calls";

Property files(const KernelFacts& kernel) {
  Property files{"files", "reads and writes only the files that it needs", "", ""};
  if (kernel.landlock < 1)
    files.missing = kernel.no_landlock;
  else if (!kernel.call_filter)  // Landlock knows nothing of owners, modes and attributes
    files.missing = kNoCalls;
  else
    files.provider = fmt::format("Landlock {}, {}", kernel.landlock, kList);
  return files;
}

/// A property that the list of system calls provides alone.
Property listed(const char* name, const char* promise, const KernelFacts& kernel) {
  if (kernel.call_filter) return {name, promise, kList, ""};
  return {name, promise, "", kNoCalls};
}

}  // namespace

KernelFacts this_kernel() {
  const os::LandlockSupport landlock = os::landlock_support();
  return {landlock.version, has_call_filter(), landlock.reason};
}

Signals signals_on(const KernelFacts& kernel) {
  return kernel.landlock >= kScopes ? Signals::Scoped : Signals::OwnOnly;
}

std::vector<Property> properties_on(const KernelFacts& kernel) {
  Property signals = listed("signals", "sends signals to no process outside", kernel);
  if (kernel.call_filter && signals_on(kernel) == Signals::Scoped)
    signals.provider = fmt::format("Landlock {}, {}", kernel.landlock, kList);
  return {files(kernel),
          listed("network", "uses no network and no sockets of other programs", kernel),
          std::move(signals),
          listed("processes", "leaves no process behind", kernel),
          {"memory", "has limits of memory and of file sizes", "limits of resources", ""},
          {"privileges", "has no privileges and gains none", "no_new_privs, no capabilities", ""}};
}

}  // namespace kw::sandbox
