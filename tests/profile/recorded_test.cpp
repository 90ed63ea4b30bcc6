#include <gtest/gtest.h>

#include "os/files.h"
#include "profile/ncu.h"

namespace kw::profile {
namespace {

MetricSet recorded(const std::string& name, const std::string& kernel) {
  const std::string path = std::string(KW_RECORDED_DIR) + "/" + name;
  const auto text = os::read_file(path);
  EXPECT_TRUE(text) << path;
  auto metrics = import_ncu(*text, kernel, name);
  EXPECT_TRUE(metrics) << metrics.error().message;
  return metrics ? std::move(metrics).value() : MetricSet();
}

struct Reading {
  const char* file;
  const char* kernel;
  const char* metric;
  double value;
};
class Recorded : public ::testing::TestWithParam<Reading> {};

TEST_P(Recorded, IsReadAsThePersonWhoLooksAtItWould) {
  const Reading& wanted = GetParam();
  const MetricSet metrics = recorded(wanted.file, wanted.kernel);
  const Known* known = metrics.find(wanted.metric);
  ASSERT_NE(known, nullptr) << wanted.metric;
  EXPECT_EQ(known->source, MetricSource::Ncu);
  EXPECT_NEAR(known->value, wanted.value, 0.006 * std::max(1.0, wanted.value)) << known->from;
}

INSTANTIATE_TEST_SUITE_P(
    Pages, Recorded,
    ::testing::Values(Reading{"matmul_raw.csv", "matmul", "duration_us", 162.6},
                      Reading{"matmul_raw.csv", "matmul", "dram_read_bytes", 8398592},
                      Reading{"matmul_raw.csv", "matmul", "dram_bytes", 8398592},
                      Reading{"matmul_raw.csv", "matmul", "l1_throughput_pct", 77.3},
                      Reading{"matmul_raw.csv", "matmul", "bank_conflict_pct", 2.295},
                      Reading{"matmul_raw.csv", "matmul", "stall_short_scoreboard_pct", 20.9},
                      Reading{"matmul_raw.csv", "matmul", "shared_wavefronts", 27903412},
                      Reading{"rms_norm_raw.csv", "rms_norm", "stall_branch_resolve_pct", 1.296},
                      Reading{"rms_norm_raw.csv", "rms_norm<128, 8>", "duration_us", 17.088},
                      Reading{"rms_norm_raw.csv", "rms_norm", "dram_throughput_pct", 56.67},
                      Reading{"rms_norm_raw.csv", "rms_norm", "global_load_sectors", 2097152},
                      Reading{"rms_norm_raw.csv", "rms_norm", "load_sectors_per_request", 16},
                      Reading{"rms_norm_raw.csv", "rms_norm", "stall_long_scoreboard_pct", 51.91},
                      Reading{"rms_norm_raw.csv", "rms_norm", "grid_blocks", 16384},
                      Reading{"rms_norm_details.csv", "rms_norm", "registers_per_thread", 30}));

TEST(RecordedPages, AgreeAboutOneKernel) {
  const MetricSet raw = recorded("rms_norm_raw.csv", ""),
                  details = recorded("rms_norm_details.csv", "");
  EXPECT_EQ(raw.kernel, details.kernel);
  EXPECT_GT(raw.all().size(), details.all().size());
  for (const char* id : {"occupancy_pct", "theoretical_occupancy_pct", "registers_per_thread",
                         "block_threads", "waves", "dram_throughput_pct"}) {
    ASSERT_TRUE(raw.knows(id) && details.knows(id)) << id;
    // Two profiles of the same kernel: counters differ a little from run to run.
    EXPECT_NEAR(*raw.get(id), *details.get(id), 0.1 * *raw.get(id)) << id;
  }
}

}  // namespace
}  // namespace kw::profile
