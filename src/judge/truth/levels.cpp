#include "truth/levels.h"

#include "numeric/cpu_level.h"

namespace kw::truth {

#define KW_ORACLE_LOOPS(level)                                                                    \
  {                                                                                               \
    &level::run_unary, &level::run_binary, &level::add_rounding, &level::sum,                     \
        &level::sum_magnitudes, &level::sum_squares, &level::sum_float, &level::largest,          \
        &level::largest_end, &level::largest_upper_end, &level::has_special, &level::add_columns, \
        &level::add_column_magnitudes, &level::add_column_squares, &level::add_columns_float,     \
        &level::store_bounds, &level::gemm_double, &level::gemm_float                             \
  }

const ChunkLoops& chunk_loops() {
  static const ChunkLoops kLoops[] = {KW_ORACLE_LOOPS(v2), KW_ORACLE_LOOPS(v3),
                                      KW_ORACLE_LOOPS(v4)};
  return kLoops[static_cast<int>(numeric::best_level())];
}

}  // namespace kw::truth
