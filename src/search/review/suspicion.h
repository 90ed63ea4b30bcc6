// What looks wrong about a module's arithmetic without running it: sums kept in half, and sums of
// exponentials that may overflow. Nothing here is proof, so it only ranks; the judge decides.
// Indices, shared memory and launches are not looked at: the virtual GPU finds those exactly.
#pragma once

#include <string>
#include <vector>

namespace kw::review {

struct Suspicion {
  int line = 0;
  std::string what;
};

std::vector<Suspicion> suspicions(const std::string& module_text);

/// 1 without any, less with every one, never 0.
double suspicion_score(const std::vector<Suspicion>& all);

}  // namespace kw::review
