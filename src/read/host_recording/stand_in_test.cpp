#include "host_recording/stand_in.h"

#include <gtest/gtest.h>

namespace kw::host_recording {
namespace {

TEST(StandIn, TakesFlagsThatSayWhatIsCompiled) {
  const struct {
    const char* flag;
    bool taken, noted;
  } rows[] = {
      {"-O3", true, false},
      {"--use_fast_math", true, false},
      {"-DTILE=16", true, false},
      {"-U__CUDA_NO_HALF_OPERATORS__", true, false},
      {"-maxrregcount=64", true, false},
      {"-D", false, true},
      {"-DX=\"a;b\"", false, true},
      {"-std=c++20", false, false},
      {"-gencode=arch=compute_80,code=sm_80", false, false},
      {"-Xcompiler", false, false},
      {"-fplugin=/tmp/evil.so", false, true},
      {"-ccbin=/bin/false", false, true},
      {"--compiler-bindir=/bin/false", false, true},
      {"-include/etc/passwd", false, true},
      {"@/etc/passwd", false, false},
      {"/etc/passwd", false, false},
      {"-I/root", false, true},
      {"", false, false},
  };
  for (const auto& row : rows) {
    const ExtensionFlags chosen = choose_flags({row.flag});
    EXPECT_EQ(chosen.taken.size(), row.taken ? 1u : 0u) << row.flag;
    EXPECT_EQ(chosen.left_out.size(), row.noted ? 1u : 0u) << row.flag;
  }
}

TEST(StandIn, PackagesAreImportedOrAreNotThere) {
  EXPECT_TRUE(imports("import torch\nimport triton\n", "triton"));
  EXPECT_TRUE(imports("  from triton import language as tl", "triton"));
  EXPECT_FALSE(imports("# faster than triton\nname = 'import triton'", "triton"));
  EXPECT_TRUE(imports("import cutlass.cute as cute\n", "cutlass"));
  EXPECT_FALSE(imports("import triton\n", "cutlass"));
  EXPECT_TRUE(wants_tuning("import triton\n@triton.autotune(configs)\n"));
  EXPECT_FALSE(wants_tuning("import triton\n@triton.jit\n"));
  EXPECT_FALSE(wants_tuning("import torch  # no autotune\n"));
}

}  // namespace
}  // namespace kw::host_recording
