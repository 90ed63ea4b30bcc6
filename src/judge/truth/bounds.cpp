// Converts many bounds to their stored form.
#include "truth/levels.h"

namespace kw::truth::KW_SIMD_LEVEL {

void store_bounds(const double* bounds, int count, float* to) {
  for (int k = 0; k < count; ++k) to[k] = stored_bound(bounds[k]);
}

}  // namespace kw::truth::KW_SIMD_LEVEL
