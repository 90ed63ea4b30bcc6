// The functions that are compiled once per x86-64 level, and the choice between the levels.
// Internal to this module.
#pragma once

#include "vgpu/inst.h"
#include "vgpu/state.h"

namespace kw::vgpu {

struct Machine;

/// Of a product: rows x depth by depth x columns.
struct MatrixShape {
  int rows = 0, columns = 0, depth = 0;
};

#define KW_VGPU_DECLARE_LEVEL(level)                                                        \
  namespace level {                                                                         \
  bool choose_moves(MemOp& mem);                                                            \
  WarpStop run_checked(Machine& m, Warp& warp);                                             \
  WarpStop run_tainted(Machine& m, Warp& warp);                                             \
  WarpStop run_counted(Machine& m, Warp& warp);                                             \
  void count_instruction(Machine& m, uint32_t pc, uint32_t group, uint32_t mask);           \
  void count_access(Machine& m, Warp& w, uint32_t pc, const MemOp& op, uint32_t mask);      \
  void count_atomic(Machine& m, Warp& w, uint32_t pc, uint32_t mask);                       \
  void count_addresses(Machine& m, uint32_t pc, const MemOp& op, const uint64_t* addresses, \
                       uint32_t mask);                                                      \
  bool floats_to_doubles(ptx::Type type, const std::byte* p, int count, double* out);       \
  bool add_products(const double* a, const double* b, double* sums, const MatrixShape& of); \
  }
KW_VGPU_DECLARE_LEVEL(v2)
#ifdef KW_ONE_SIMD_LEVEL  // sanitized builds: the other levels take too long to compile
namespace v3 = v2;
namespace v4 = v2;
#else
KW_VGPU_DECLARE_LEVEL(v3)
KW_VGPU_DECLARE_LEVEL(v4)
#endif
#undef KW_VGPU_DECLARE_LEVEL

/// Elements that lie one after the other, as doubles. False: not a type that it knows.
bool floats_to_doubles(ptx::Type type, const std::byte* p, int count, double* out);
/// Adds the products to `sums`, each in the order of the depth. False: not a width that it knows.
bool add_products(const double* a, const double* b, double* sums, const MatrixShape& of);

/// Runs a warp until it waits, ends, spins or has used its slice.
struct WarpLoops {
  WarpStop (*checked)(Machine&, Warp&);
  WarpStop (*tainted)(Machine&, Warp&);  // with a shadow of undefined bits
  WarpStop (*counted)(Machine&, Warp&);  // counters instead of checks
};
/// The best version that this CPU can run.
const WarpLoops& warp_loops();

}  // namespace kw::vgpu
