// The same comparison on a GPU, at four million elements.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>

#include "cases.h"
#include "compile/compile_worker.h"
#include "compile/select.h"
#include "gpu/gpu_device.h"
#include "gpu/gpu_worker.h"
#include "truth_gpu/gpu_oracle.h"

namespace kw::truth_tests {
namespace {

using tensor::DType;
using tensor::Family;
using truth_gpu::GpuOracle;

ports::Compiler* compiler() {
  static const auto opened = compile::select_compiler();
  return opened ? opened->get() : nullptr;
}

Result<std::unique_ptr<ports::Device>> open_gpu() {
  return std::unique_ptr<ports::Device>(KW_TRY(gpu::GpuDevice::open(0)));
}

GpuOracle& shared() {
  static GpuOracle oracle(*compiler(), open_gpu, {int64_t{1} << 20, 60});
  return oracle;
}

struct Row {
  size_t which;
  DType dtype;
};

class GpuTruth : public testing::TestWithParam<Row> {
  void SetUp() override {
    if (compiler() == nullptr) GTEST_SKIP() << "no compiler for device code here";
    static const auto there = gpu::GpuDevice::open(0);
    if (!there) GTEST_SKIP() << "no GPU here: " << there.error().message;
  }
};

TEST_P(GpuTruth, SaysWhatTheInterpreterSays) {
  const Case& c = cases()[GetParam().which];
  for (const Family family : {Family::Normal, Family::Offset, Family::Spikes}) {
    const Made made = make(c, GetParam().dtype, family, 1024, 4096);
    const auto want = truth::Interpreter().truth(made.graph, made.inputs, {});
    const auto got = shared().truth(made.graph, made.inputs, {});
    ASSERT_TRUE(want && got) << (got ? "" : got.error().message);
    EXPECT_EQ(difference((*want)[0], (*got)[0]), "") << tensor::family_name(family);
  }
}

std::vector<Row> rows() {
  std::vector<Row> rows;
  for (size_t which = 0; which < cases().size(); ++which)
    for (const DType dtype : {DType::Fp16, DType::Fp32}) rows.push_back({which, dtype});
  return rows;
}

INSTANTIATE_TEST_SUITE_P(All, GpuTruth, testing::ValuesIn(rows()), [](const auto& row) {
  return std::string(cases()[row.param.which].name) + "_" + tensor::dtype_name(row.param.dtype);
});

TEST_F(GpuTruth, TruthsWithDeviceCodeAreMadeThere) {
  for (const Case& c : cases()) {
    if (c.place != Case::Place::Device) continue;
    GpuOracle oracle(*compiler(), open_gpu, {int64_t{1} << 20, 60});
    const Made made = make(c, DType::Fp16, Family::Normal, 1024, 4096);
    ASSERT_TRUE(oracle.truth(made.graph, made.inputs, {}));
    EXPECT_EQ(oracle.made_by().rfind("1 on", 0), 0u) << c.name << ": " << oracle.made_by();
    std::printf("measured: %s made by %s\n", c.name, oracle.made_by().c_str());
  }
}

}  // namespace
}  // namespace kw::truth_tests

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "worker-gpu") == 0) return kw::gpu::gpu_worker_main();
  if (argc == 2 && std::strcmp(argv[1], "worker-compile") == 0)
    return kw::compile::compile_worker_main();
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
