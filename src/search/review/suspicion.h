// What looks wrong about a module without running it: indices against extents, shared memory and
// launches against limits, exponentials and accumulators against ranges. Nothing here is proof, so
// it only ranks: a compiler and the virtual GPU decide.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernel/module.h"
#include "review/vote.h"

namespace kw::review {

struct Suspicion {
  Field field = Field::Memory;
  int line = 0;
  std::string what;
};

/// At one shape; tunables have their first values. Launch groups that do not apply are not looked
/// at, and what cannot be followed is passed over.
std::vector<Suspicion> suspicions(const kernel::Module& module,
                                  const std::map<std::string, int64_t>& dims);

/// The same at a few small and odd shapes, each line once. Text that is no module has none: reading
/// it is not guessing.
std::vector<Suspicion> suspicions(const std::string& module_text);

/// 1 without any, less with every one, never 0.
double suspicion_score(const std::vector<Suspicion>& all);

}  // namespace kw::review
