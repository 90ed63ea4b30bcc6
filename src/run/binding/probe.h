// Finds dims for each launch group of a module. It tries likely dims, because guards are arbitrary
// expressions.
#pragma once

#include <vector>

#include "kernel/module.h"
#include "kernel/select.h"

namespace kw::binding {

/// The first dims that select one launch group, with this selection. Tunables have one assignment.
struct Probe {
  kernel::Bindings bindings;
  kernel::Selection selection;
};

/// `fixed` holds the dims that the user gave. The others are tried over common and unusual sizes.
/// Dims that no guard accepts are skipped. If no dims select a group, the last reason is the Error.
Result<std::vector<Probe>> probe_groups(const kernel::Module& module,
                                        const kernel::Bindings& fixed);

}  // namespace kw::binding
