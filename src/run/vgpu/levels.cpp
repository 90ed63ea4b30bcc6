#include "vgpu/levels.h"

#include "numeric/cpu_level.h"
#include "vgpu/move.h"
#include "vgpu/slow_ops.h"

namespace kw::vgpu {

using numeric::best_level;
using numeric::CpuLevel;

const WarpLoops& warp_loops() {
  static const WarpLoops kLoops[] = {
      {&v2::run_checked, &v2::run_tainted, &v2::run_counted},
      {&v3::run_checked, &v3::run_tainted, &v3::run_counted},
      {&v4::run_checked, &v4::run_tainted, &v4::run_counted},
  };
  return kLoops[static_cast<int>(best_level())];
}

void count_access(Machine& m, Warp& w, uint32_t pc, const MemOp& op, uint32_t mask) {
  if (best_level() == CpuLevel::V4) return v4::count_access(m, w, pc, op, mask);
  if (best_level() == CpuLevel::V3) return v3::count_access(m, w, pc, op, mask);
  v2::count_access(m, w, pc, op, mask);
}

void count_addresses(Machine& m, uint32_t pc, const MemOp& op, const uint64_t* addresses,
                     uint32_t mask) {
  if (best_level() == CpuLevel::V4) return v4::count_addresses(m, pc, op, addresses, mask);
  if (best_level() == CpuLevel::V3) return v3::count_addresses(m, pc, op, addresses, mask);
  v2::count_addresses(m, pc, op, addresses, mask);
}

bool floats_to_doubles(ptx::Type type, const std::byte* p, int count, double* out) {
  if (best_level() == CpuLevel::V4) return v4::floats_to_doubles(type, p, count, out);
  if (best_level() == CpuLevel::V3) return v3::floats_to_doubles(type, p, count, out);
  return v2::floats_to_doubles(type, p, count, out);
}

bool add_products(const double* a, const double* b, double* sums, const MatrixShape& of) {
  if (best_level() == CpuLevel::V4) return v4::add_products(a, b, sums, of);
  if (best_level() == CpuLevel::V3) return v3::add_products(a, b, sums, of);
  return v2::add_products(a, b, sums, of);
}

bool choose_moves(MemOp& mem) {
  if (best_level() == CpuLevel::V4) return v4::choose_moves(mem);
  if (best_level() == CpuLevel::V3) return v3::choose_moves(mem);
  return v2::choose_moves(mem);
}

}  // namespace kw::vgpu
