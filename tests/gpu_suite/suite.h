// What the suite's tests share: one device kept for all of them, skipped with a reason where there
// is none.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "gpu/gpu_device.h"
#include "kernels.h"
#include "program_builder.h"
#include "record/finding.h"

namespace kw::gpu_suite {

class Suite : public ::testing::Test {
 protected:
  void SetUp() override;

  gpu::GpuDevice& device() { return *shared(); }
  ports::ImageId load(const char* ptx = kKernels);
  ports::RunOutcome run(const Case& test, const ports::RunOptions& options = {},
                        const char* ptx = kKernels);
  /// A sound vector addition: shows that the device still works.
  void expect_healthy();

 private:
  static std::unique_ptr<gpu::GpuDevice>& shared();
};

/// c = a + b over n elements.
Case addition(int64_t n);
/// "out-of-bounds-global y, output-not-written y": what was found, in order.
std::string summary(const ports::RunOutcome& outcome);

}  // namespace kw::gpu_suite
