#include "single_run/check_module.h"

#include <gtest/gtest.h>

#include "binding/load.h"
#include "machine/probes.h"
#include "single_run/fakes.h"
#include "single_run/json.h"

namespace kw::single_run {

namespace {

constexpr char kCheckedModule[] =
    "//! kernelwright 1\n"
    "//! task scale\n"
    "//! input x: fp32[N]\n"
    "//! output y: fp32[N]\n"
    "//! tune WIDTH in 32, 64, 128\n"
    "//! tune UNROLL in 1, 2\n"
    "//! when N % 4 == 0\n"
    "//! launch scale<WIDTH> grid(ceil_div(N, WIDTH)) block(WIDTH) args(x, y, N)\n"
    "//! when N == 7\n"
    "//! launch scale<1> grid(1) block(32) args(x, y, N)\n"
    "//! when N == 123457\n"
    "//! launch scale<2> grid(1) block(32) args(x, y, N)\n"
    "template <int kWidth>\n"
    "__global__ void scale(const float* x, float* y, int n) {}\n";

class CheckStory : public testing::Test {
 protected:
  FakeCompiler compiler;
  FakeDevice device;
  CheckRequest request;

  Result<CheckReport> check() {
    return check_module(binding::parse_module(kCheckedModule, "scale.cu").value(), request,
                        compiler, &device);
  }
};

}  // namespace

TEST_F(CheckStory, ReachesGroupsByTryingShapes) {
  const auto report = check();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(report->ok());
  ASSERT_EQ(report->groups.size(), 3U);
  EXPECT_TRUE(report->groups[0].example);
  EXPECT_EQ(report->groups[1].example->at("N"), 7);
  EXPECT_FALSE(report->groups[2].example) << "no usual shape reaches it, and that is said";
  ASSERT_EQ(report->variants.size(), 2U);
  EXPECT_EQ(device.loads, 2) << "the virtual GPU was asked about each image";
}

TEST_F(CheckStory, FixedDimsReachTheRest) {
  request.bindings.dims["N"] = 123457;
  const auto report = check();
  ASSERT_TRUE(report);
  ASSERT_EQ(report->variants.size(), 1U);
  EXPECT_EQ(report->variants[0].group, 2);
}

TEST_F(CheckStory, AllTunesAreBoundedAndSaySo) {
  request.all_tunes = true;
  EXPECT_EQ(check()->assignments, 6U);
  EXPECT_FALSE(check()->assignments_cut);
  request.tune_limit = 4;
  EXPECT_EQ(check()->assignments, 4U);
  EXPECT_TRUE(check()->assignments_cut);
  request.bindings.tunes["WIDTH"] = 64;
  EXPECT_EQ(check()->assignments, 2U);
}

TEST_F(CheckStory, OccupancyFollowsFromRegistersAndShared) {
  request.bindings.dims["N"] = 1024;
  request.bindings.tunes["WIDTH"] = 128;
  const auto report = check();
  ASSERT_TRUE(report);
  const LaunchCheck& launch = report->variants[0].launches.at(0);
  EXPECT_EQ(launch.grid.x, 8U);
  EXPECT_EQ(launch.blocks_per_sm, 16);
  EXPECT_DOUBLE_EQ(launch.occupancy, 1.0);
  compiler.resources.registers = -1;
  EXPECT_EQ(check()->variants[0].launches[0].blocks_per_sm, -1);
}

TEST_F(CheckStory, SaysWhyResourcesAreNotKnown) {
  EXPECT_EQ(check()->resources_note, "");
  compiler.makes_cubins = false;
  EXPECT_EQ(check()->resources_note, "no ptxas");
}

TEST_F(CheckStory, PlanAndKernelMustAgree) {
  compiler.signature = "(float const*, float*, int, float)";
  const auto report = check();
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->ok());
  EXPECT_FALSE(report->variants[0].plan_error.empty());
  compiler.fail = true;
  EXPECT_TRUE(check()->variants[0].failed);
}

TEST_F(CheckStory, NoShapeAtAllIsTheUsersError) {
  request.bindings.dims["N"] = 9;
  const auto report = check();
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().blame, Blame::Input);
}

TEST_F(CheckStory, JsonHasEveryVariant) {
  const auto report = check();
  const Json json = to_json(*report, binding::parse_module(kCheckedModule, "scale.cu").value());
  EXPECT_EQ(json["variants"].items().size(), 2U);
  EXPECT_EQ(json["variants"].items()[0]["launches"].items()[0]["resources"]["registers"].as_int(),
            32);
  EXPECT_TRUE(json["groups"].items()[2]["example"].is_null());
}

struct VersionCase {
  const char *text, *want;
};

TEST(Doctor, FindsVersionsInWhatToolsPrint) {
  for (const VersionCase& c : std::vector<VersionCase>{
           {"Cuda compilation tools, release 13.0, V13.0.88\nBuild cuda_13.0.r13.0/compiler",
            "13.0.88"},
           {"Version 2025.3.1.0 (build 36398880)", "2025.3.1.0"},
           {"Python 3.11.2\n", "3.11.2"},
           {"580.159.04\n580.159.04\n", "580.159.04"},
           {"Copyright (c) 2005-2025. All", ""},
           {"", ""}}) {
    EXPECT_EQ(machine::find_version(c.text), c.want) << c.text;
  }
}

TEST(Doctor, KnowsWhetherAProfileReadCounters) {
  EXPECT_EQ(
      machine::counters_problem("==PROF== Connected\n    sm__cycles_elapsed.max  cycle  4,102\n"),
      "");
  EXPECT_NE(
      machine::counters_problem("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission")
          .find("ERR_NVGPUCTRPERM"),
      std::string::npos);
  EXPECT_NE(machine::counters_problem("==ERROR== Unknown Error on device 0.\nmore")
                .find("Unknown Error on device 0."),
            std::string::npos);
  EXPECT_NE(machine::counters_problem("==WARNING== No kernels were profiled.").find("no kernel"),
            std::string::npos);
  EXPECT_NE(machine::counters_problem("    sm__cycles_elapsed.max  cycle  n/a\n").find("no value"),
            std::string::npos);
}

TEST(Doctor, EveryToolSaysWhatItsAbsenceCostsAndHowToGetIt) {
  for (const machine::ToolRow& row : machine::tool_rows()) {
    EXPECT_GT(std::string(row.cost).size(), 10U) << row.name;
    EXPECT_GT(std::string(row.remedy).size(), 10U) << row.name;
  }
  EXPECT_FALSE(machine::examine_one("no-such-tool"));
}

}  // namespace kw::single_run
