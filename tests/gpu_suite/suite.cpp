#include "suite.h"

#include "core/text.h"

namespace kw::gpu_suite {

std::unique_ptr<gpu::GpuDevice>& Suite::shared() {
  static std::unique_ptr<gpu::GpuDevice> device;
  return device;
}

void Suite::SetUp() {
  if (shared() != nullptr) return;
  auto opened = gpu::GpuDevice::open(0);
  if (!opened) GTEST_SKIP() << "no GPU here: " << opened.error().message;
  shared() = std::move(opened).value();
}

ports::ImageId Suite::load(const char* ptx) {
  ports::Compiled compiled;
  compiled.kind = ports::ImageKind::Ptx;
  compiled.image = ptx;
  auto image = device().load(compiled);
  EXPECT_TRUE(image.has_value()) << image.error().message;
  return image ? *image : 0;
}

ports::RunOutcome Suite::run(const Case& test, const ports::RunOptions& options, const char* ptx) {
  auto outcome = device().run(load(ptx), test.program, test.inputs, options);
  EXPECT_TRUE(outcome.has_value()) << outcome.error().message;
  if (outcome) return std::move(outcome).value();
  ports::RunOutcome failed;
  failed.status = ports::RunStatus::Refused;
  failed.message = outcome.error().message;
  return failed;
}

void Suite::expect_healthy() {
  Case test = addition(1000);
  ports::RunOutcome outcome = run(test);
  ASSERT_EQ(outcome.status, ports::RunStatus::Completed) << outcome.message;
  EXPECT_EQ(summary(outcome), "");
  const auto c = values<float>(outcome.buffers[2]);
  for (size_t i = 0; i < c.size(); ++i) ASSERT_EQ(c[i], 3.0f * static_cast<float>(i)) << "at " << i;
}

Case addition(int64_t n) {
  Case test;
  const int a = test.add("a", kernel::Role::Input, n, tensor::DType::Fp32);
  const int b = test.add("b", kernel::Role::Input, n, tensor::DType::Fp32);
  const int c = test.add("c", kernel::Role::Output, n, tensor::DType::Fp32);
  for (int64_t i = 0; i < n; ++i) {
    test.data<float>(a)[i] = static_cast<float>(i);
    test.data<float>(b)[i] = 2.0f * static_cast<float>(i);
  }
  test.launch("vector_add", static_cast<uint32_t>((n + 255) / 256), 256,
              {pointer(a), pointer(b), pointer(c), value<uint32_t>(static_cast<uint32_t>(n))});
  return test;
}

std::string summary(const ports::RunOutcome& outcome) {
  std::vector<std::string> found;
  for (const record::Finding& finding : outcome.findings) {
    found.push_back(std::string(record::finding_name(finding.kind)) + " " + finding.buffer);
  }
  return join(found, ", ");
}

}  // namespace kw::gpu_suite
