#include "kernel/methods.h"

#include <gtest/gtest.h>

#include "kernel/parse_module.h"

namespace kw::kernel {
namespace {

constexpr const char* kText = R"(//! kernelwright 1
//! task    scale
//! input   x: fp32[N]
//! output  y: fp32[N]
//!tune     THREADS  in  256,128   where THREADS * VEC <= 1024
//! tune    VEC in 4, 2, 1
//! tune    UNROLL in 4, 1
//! tune    PAD in 1, 0 where PAD == 1 || THREADS == 128
//! method  memory.vectorized_access when VEC > 1, off VEC=1
//! method  compute.ilp_unroll_register_tile when VEC > 2, off VEC=2
//! method  compute.loop_unroll when UNROLL > 1 && N % 4 == 0, off UNROLL=1
//! method  memory.bank_conflict when PAD == 1, off PAD=0
//! method  memory.coalesced_access
//! launch  k grid(1) block(THREADS) args(x, y, N)
__global__ void k(const float* x, float* y, int n) {
  for (int i = threadIdx.x; i < n; i += THREADS) y[i] = x[i] * VEC * UNROLL * PAD;
}
)";

Module module_of(const std::string& text) {
  const ParseOutcome outcome = parse(text, "k.cu");
  EXPECT_TRUE(outcome.module) << cuda_source::render_diagnostics(outcome.diagnostics, text, "k.cu");
  return *outcome.module;
}

TEST(Methods, AreOnByTheirCondition) {
  const Module module = module_of(kText);
  using Ids = std::vector<std::string>;
  const auto tunes = default_tunes(module);
  ASSERT_TRUE(tunes);
  EXPECT_EQ(active_methods(module, *tunes),
            (Ids{"memory.vectorized_access", "compute.ilp_unroll_register_tile",
                 "compute.loop_unroll", "memory.bank_conflict", "memory.coalesced_access"}));
  EXPECT_EQ(active_methods(module, {{"THREADS", 128}, {"VEC", 2}, {"UNROLL", 1}, {"PAD", 0}}),
            (Ids{"memory.vectorized_access", "memory.coalesced_access"}));
}

TEST(Methods, SwitchOffLeavesTheRest) {
  const auto off = without_method(module_of(kText), "memory.vectorized_access");
  ASSERT_TRUE(off);
  EXPECT_EQ(off->also_off, std::vector<std::string>{"compute.ilp_unroll_register_tile"});
  EXPECT_TRUE(off->moved.empty());
  const auto after = default_tunes(module_of(off->text));
  ASSERT_TRUE(after);
  EXPECT_EQ(*after, (std::map<std::string, int64_t>{
                        {"THREADS", 256}, {"VEC", 1}, {"UNROLL", 4}, {"PAD", 1}}));
}

TEST(Methods, SwitchOffMovesOnlyWhatConditionsForce) {
  const auto off = without_method(module_of(kText), "memory.bank_conflict");
  ASSERT_TRUE(off);
  EXPECT_EQ(off->moved, std::vector<std::string>{"THREADS"});
  const auto after = default_tunes(module_of(off->text));
  ASSERT_TRUE(after);
  EXPECT_EQ(*after, (std::map<std::string, int64_t>{
                        {"THREADS", 128}, {"VEC", 4}, {"UNROLL", 4}, {"PAD", 0}}));
}

TEST(Methods, SwitchOffRefuses) {
  const Module module = module_of(kText);
  EXPECT_EQ(without_method(module, "memory.coalesced_access").error().message,
            "the method line of memory.coalesced_access has no 'off'");
  EXPECT_EQ(without_method(module, "compute.tensor_core").error().message,
            "the kernel does not claim compute.tensor_core");
}

}  // namespace
}  // namespace kw::kernel
