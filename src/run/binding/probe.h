// Which dims fall under which launch group: found by trying likely ones, since guards are arbitrary
// expressions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernel/module.h"
#include "kernel/select.h"

namespace kw::binding {

/// For one assignment of tunables: the first dims found for each group that any tried dims select.
struct Probe {
  kernel::Bindings bindings;
  kernel::Selection selection;
};

/// `fixed` gives the dims the user named; all others are tried over sizes that real shapes have and
/// over awkward ones. Dims that no guard admits are skipped. When nothing is selected at all, the
/// last reason is the Error.
Result<std::vector<Probe>> probe_groups(const kernel::Module& module,
                                        const kernel::Bindings& fixed);

}  // namespace kw::binding
