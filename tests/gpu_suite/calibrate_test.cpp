// A calibration's numbers must be possible, and agree with each other.
#include <cstdio>

#include "suite.h"

namespace kw::gpu_suite {
namespace {

class Calibrate : public Suite {};

TEST_F(Calibrate, MeasuresWhatIsPossible) {
  auto measured = device().calibrate(60);
  ASSERT_TRUE(measured.has_value()) << measured.error().message;
  std::printf("measured: GB/s read %.0f, 2:1 %.0f, 1:1 %.0f, write %.0f (buffers of %.0f MiB)\n",
              measured->read, measured->add, measured->copy, measured->write,
              measured->buffer_bytes / (1 << 20));
  std::printf("measured: launch %.2f us, event pair %.2f us, host %.2f us, %d MHz, %d C\n",
              measured->launch_us, measured->overhead_us, measured->host_us, measured->sm_clock_mhz,
              measured->temperature_c);
  for (const record::Peak& peak : measured->peaks) {
    std::printf("measured: %s by %s: %.1f T/s\n", peak.precision.c_str(), peak.instruction.c_str(),
                peak.tera);
    EXPECT_GT(peak.tera, 0);
  }
  EXPECT_EQ(measured->uuid, device().info().uuid);
  for (double rate : {measured->read, measured->write, measured->copy, measured->add}) {
    EXPECT_GT(rate, 0.1);
    EXPECT_LT(rate, 20000);
  }
  EXPECT_GT(measured->peak("fp32"), 0);
  EXPECT_GE(measured->launch_us, 0);
  EXPECT_LT(measured->launch_us, 1000);
  expect_healthy();
}

}  // namespace
}  // namespace kw::gpu_suite
