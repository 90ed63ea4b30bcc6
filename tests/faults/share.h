// How many faults a test injects: its share of KW_FAULTS (10,000 in the long test).
#pragma once

#include <cstdlib>
#include <string>

namespace kw::faults {

inline int share_of_faults(double share) {
  const char* all = std::getenv("KW_FAULTS");
  return static_cast<int>(share * (all == nullptr ? 1000 : std::atoi(all)));
}

}  // namespace kw::faults
