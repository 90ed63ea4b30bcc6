// Launch groups, thresholds and benchmark shapes: what the gate runs beyond the listed shapes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "gate/fakes.h"
#include "gate/gate.h"
#include "kernel/parse_module.h"
#include "ptx/parse.h"
#include "shapes/code_thresholds.h"
#include "shapes/launch_conditions.h"
#include "shapes/module_shapes.h"
#include "shapes/reach.h"

namespace kw::gate {

namespace {

/// A module for fake_task() with these plan lines between its tensors and its code.
kernel::Module module_with(const std::string& lines) {
  const std::string text =
      "//! kernelwright 1\n//! task twice\n//! input x: fp32[B, D]\n//! output y: fp32[B, D]\n" +
      lines + "__global__ void twice(const float* x, float* y, int d) {}\n";
  kernel::ParseOutcome outcome = kernel::parse(text, "twice.cu");
  if (!outcome.module)
    throw std::runtime_error(
        cuda_source::render_diagnostics(outcome.diagnostics, text, "twice.cu"));
  return std::move(*outcome.module);
}

const std::string kLaunch = "//! launch twice grid(B) block(64) args(x, y, D)\n";

std::string two_groups(const std::string& when) {
  return "//! when " + when + "\n" + kLaunch + "//! when true\n" + kLaunch;
}

class CoverageTest : public testing::Test {
 protected:
  task::Task task = fake_task();
  FakeOracle oracle;
  FakeCompiler compiler;
  FakeDevice virtual_gpu{true};
  kernel::Bindings fixed = fake_bindings();
  double budget = 60;
  std::optional<Pool> pool;

  GateReport judged(const kernel::Module& module) {
    uint64_t drawn = 77;
    const Entropy entropy = [&drawn]() -> Result<uint64_t> { return ++drawn; };
    shapes::ShapeLimits limits = shapes::virtual_limits();
    limits.secret = 5;
    pool.emplace(
        Pool::make(task, oracle, shapes::plan_shapes(task, limits).value(), {}, entropy).value());
    GateRequest request;
    request.compiler = &compiler;
    request.virtual_gpu = {&virtual_gpu, fixed, &*pool};
    request.repro = {"twice.cu", "twice.py", {}};
    request.entropy = entropy;
    request.budget_seconds = budget;
    auto made = judge(module, request);
    if (!made) throw std::runtime_error(made.error().message);
    return std::move(made).value();
  }

  record::Passed passed(const std::string& lines) {
    report = judged(module_with(lines));
    const auto* verdict = std::get_if<record::Passed>(&report.verdict);
    if (verdict == nullptr) throw std::runtime_error(record::to_json(report.verdict).dump());
    return *verdict;
  }

  /// A view of a module at two shapes of the task.
  shapes::PlanView view(const kernel::Module& module) {
    for (const auto& [b, d] : {std::pair<int64_t, int64_t>{3, 64}, {5, 31}}) {
      shapes::ShapeCase shape;
      shape.dims = {{"B", b}, {"D", d}};
      shape.graph = task.graph_at(shape.dims).value();
      shapes.push_back(std::make_unique<shapes::ShapeCase>(std::move(shape)));
    }
    std::vector<const shapes::ShapeCase*> known;
    for (const auto& shape : shapes) known.push_back(shape.get());
    matching = shapes::match_tensors(module, task, known[0]->graph).value();
    return shapes::PlanView(module, matching, task, fixed, known);
  }

  GateReport report;
  std::vector<std::unique_ptr<shapes::ShapeCase>> shapes;
  shapes::Matching matching;
};

TEST_F(CoverageTest, EverythingRunsAndTheVerdictIsComplete) {
  const record::Passed verdict = passed(two_groups("D % 4 == 0"));
  EXPECT_TRUE(verdict.complete && verdict.certified);
  EXPECT_EQ(verdict.below, "");
  ASSERT_EQ(report.groups.size(), 2U);
  for (const GroupReport& group : report.groups) {
    EXPECT_EQ(group.state, "run");
    EXPECT_GT(group.cells, 0);
  }
}

// Neither the module nor its code names the limit.
TEST_F(CoverageTest, AnErrorBehindALargeExtentIsFound) {
  int64_t longest = 0;
  virtual_gpu.instead = [&](const kernel::Program& program, const ports::RunOptions&) {
    const int64_t rows = program.buffers.front().shape.front();
    longest = std::max(longest, rows);
    virtual_gpu.kernel = [rows](double x, int64_t, int64_t) {
      return rows > 33000 ? x : 2 * x + 1;
    };
    return std::optional<ports::RunOutcome>();
  };
  report = judged(module_with(kLaunch));
  EXPECT_TRUE(std::holds_alternative<record::Wrong>(report.verdict)) << longest;
}

TEST_F(CoverageTest, LargeExtentsStayWithinTheTasksRange) {
  task.dims["B"].high = 5000;
  task.dims["D"].high = 400000;
  task.dims["D"].multiple = 8;
  passed(kLaunch);
  int64_t rows = 0, columns = 0;
  for (const CellReport& cell : report.cells) {
    long long b = 0, d = 0;
    ASSERT_EQ(std::sscanf(cell.cell.shape.c_str(), "B=%lld D=%lld", &b, &d), 2);
    rows = std::max<int64_t>(rows, b);
    columns = std::max<int64_t>(columns, d);
    EXPECT_EQ(d % 8, 0) << cell.cell.shape;
  }
  EXPECT_LE(rows, 5000);
  EXPECT_LE(columns, 400000);
  EXPECT_GT(columns, 16400);
}

TEST_F(CoverageTest, AGroupOfNoListedShapeIsFoundAndRun) {
  const record::Passed verdict = passed(two_groups("B % 97 == 13 && D % 89 == 7"));
  EXPECT_TRUE(verdict.complete);
  EXPECT_GT(report.groups[0].cells, 0);
}

TEST_F(CoverageTest, AGroupForMoreElementsThanThereIsMemoryLimitsTheVerdict) {
  const record::Passed verdict = passed(two_groups("B * D <= 2000000000"));
  EXPECT_FALSE(verdict.complete || verdict.certified);
  EXPECT_TRUE(verdict.complete_in_practice());
  EXPECT_TRUE(verdict.below.starts_with("below 2,000,000,0")) << verdict.below;
  EXPECT_EQ(report.groups[0].state, "run");
  EXPECT_EQ(report.groups[1].state, "unaffordable");
  EXPECT_NE(report.groups[1].needs, "");
}

TEST_F(CoverageTest, AnUnreachableGroupDoesNotMatter) {
  for (const char* when : {"B < 0", "1 > 2 && B > 3", "VEC == 2 && D % 2 == 0"}) {
    const record::Passed verdict = passed("//! tune VEC in 1, 2\n" + two_groups(when));
    EXPECT_TRUE(verdict.complete) << when;
    EXPECT_EQ(report.groups[0].state, "unreachable") << when;
    EXPECT_NE(report.groups[0].why, "") << when;
  }
  passed("//! when D % 1 == 0 && B > 2\n" + kLaunch + two_groups("B > 2"));
  EXPECT_EQ(report.groups[1].state, "unreachable");
}

TEST_F(CoverageTest, AScreeningIsNeverComplete) {
  budget = 0;
  const record::Passed verdict = passed(two_groups("B >= 50000"));
  EXPECT_FALSE(verdict.complete || verdict.certified || verdict.complete_in_practice());
  EXPECT_EQ(report.groups[0].state, "not run");
}

TEST_F(CoverageTest, TheBenchmarkShapeRunsUncut) {
  task.benchmark_shapes = {{{"B", 3000}, {"D", 512}}};
  EXPECT_TRUE(passed(kLaunch).complete);
  const auto whole = [](const CellReport& cell) { return cell.cell.shape == "B=3000 D=512"; };
  ASSERT_TRUE(std::ranges::any_of(report.cells, whole));
  EXPECT_EQ(std::ranges::find_if(report.cells, whole)->cell.family, "spikes");
}

TEST_F(CoverageTest, ABenchmarkShapeBeyondTheBudgetLimitsTheVerdict) {
  task.benchmark_shapes = {{{"B", int64_t{1} << 22}, {"D", 4096}}};
  budget = 0.01;
  const record::Passed verdict = passed(kLaunch);
  EXPECT_FALSE(verdict.complete || verdict.complete_in_practice());
  EXPECT_EQ(verdict.below, "below B=4194304 D=4096");
}

TEST_F(CoverageTest, WithoutAnAffordableShapeTheVerdictIsUnknown) {
  constexpr int64_t kRows = int64_t{1} << 22;
  task.dims = {{"B", {kRows, kRows, 1}}, {"D", {4096, 4096, 1}}};
  task.correctness_shapes = task.benchmark_shapes = {{{"B", kRows}, {"D", 4096}}};
  budget = 1;
  report = judged(module_with(kLaunch));
  const auto* unknown = std::get_if<record::Unknown>(&report.verdict);
  ASSERT_NE(unknown, nullptr) << record::to_json(report.verdict).dump();
  EXPECT_NE(unknown->missing_evidence.find("costs too much on this device"), std::string::npos);
}

TEST_F(CoverageTest, ConstantsOfTheCodeBecomeExtents) {
  compiler.ptx =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry twice(.param .u32 d) {\n"
      "  .reg .pred %p<2>;\n  .reg .b32 %r<3>;\n  ld.param.u32 %r1, [d];\n"
      "  setp.gt.s32 %p1, %r1, 2999;\n  ret;\n}\n";
  EXPECT_TRUE(passed(kLaunch).complete);
  for (const char* extent : {"D=2999", "D=3000"}) {
    EXPECT_TRUE(std::ranges::any_of(report.cells, [&](const CellReport& cell) {
      return cell.cell.shape.ends_with(extent);
    })) << extent;
  }
}

TEST_F(CoverageTest, ConstantsAreTriedWhereTheirLaunchGroupRuns) {
  compiler.ptx =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry twice(.param .u32 d) {\n"
      "  .reg .pred %p<2>;\n  .reg .b32 %r<3>;\n  ld.param.u32 %r1, [d];\n"
      "  setp.eq.s32 %p1, %r1, 3930;\n  ret;\n}\n";
  EXPECT_TRUE(passed(two_groups("D % 8 == 0")).complete);
  for (const int64_t rest : {0, 1}) {  // of D by 8: which group runs
    EXPECT_TRUE(std::ranges::any_of(report.cells, [&](const CellReport& cell) {
      const std::string& shape = cell.cell.shape;
      if (!shape.starts_with("B=3930 ")) return false;
      const int64_t extent = std::stoll(shape.substr(shape.find("D=") + 2));
      return (extent % 8 == 0) == (rest == 0);
    })) << rest;
  }
}

TEST_F(CoverageTest, EveryRestOfAnUnrolledLoopIsRun) {
  EXPECT_TRUE(passed(kLaunch).complete);
  std::set<int64_t> rests;  // of odd rows by 128, in warps
  for (const CellReport& cell : report.cells) {
    const std::string& shape = cell.cell.shape;
    const int64_t extent = std::stoll(shape.substr(shape.find("D=") + 2));
    if (extent > 600 && extent % 2 == 1) rests.insert(extent % 128 / 32);
  }
  EXPECT_EQ(rests.size(), 4U);
}

// Large extents of one dim would use up what all rests may cost.
TEST_F(CoverageTest, EveryRestOfEveryDimIsRun) {
  EXPECT_TRUE(passed(kLaunch).complete);
  std::map<char, std::set<int64_t>> rests;
  for (const CellReport& cell : report.cells) {
    if (cell.why != "may reach other code") continue;
    const std::string& shape = cell.cell.shape;
    for (const char dim : {'B', 'D'})
      rests[dim].insert(std::stoll(shape.substr(shape.find(dim) + 2)) % 8);
  }
  EXPECT_EQ(rests['B'].size(), 8U);
  EXPECT_EQ(rests['D'].size(), 8U);
}

TEST_F(CoverageTest, EightyThresholdsAreRun) {
  std::string lines;
  for (int i = 0; i < 80; ++i)
    lines += "//! when B == " + std::to_string(100 + 7 * i) + "\n" + kLaunch;
  const record::Passed verdict = passed(lines + "//! when true\n" + kLaunch);
  EXPECT_TRUE(verdict.complete) << record::to_json(report.verdict).dump();
}

TEST_F(CoverageTest, MoreThresholdsThanShapesAreNotComplete) {
  std::string lines;
  for (int i = 0; i < 400; ++i)
    lines += "//! let L" + std::to_string(i) + " = min(B, " + std::to_string(100 + 7 * i) + ")\n";
  const record::Passed verdict = passed(lines + kLaunch);
  EXPECT_FALSE(verdict.complete || verdict.certified);
  EXPECT_TRUE(std::ranges::any_of(verdict.incomplete, [](const std::string& line) {
    return line.find("more shapes at the module's thresholds were not run") != std::string::npos;
  })) << record::to_json(report.verdict).dump();
}

TEST_F(CoverageTest, ALimitThatCostsTooMuchLimitsTheVerdict) {
  const record::Passed verdict =
      passed("//! launch twice grid(min(B, 3000000)) block(64) args(x, y, D)\n");
  EXPECT_FALSE(verdict.complete || verdict.certified);
  EXPECT_TRUE(verdict.below.ends_with(" elements")) << verdict.below;
}

TEST_F(CoverageTest, AGroupThatCanNeverRunIsRejected) {
  report = judged(
      module_with("//! when D % 2 == 1\n//! launch twice grid(B) block(2048) args(x, y, D)\n" +
                  std::string("//! when true\n") + kLaunch));
  const auto* rejected = std::get_if<record::Rejected>(&report.verdict);
  ASSERT_NE(rejected, nullptr) << record::to_json(report.verdict).dump();
  EXPECT_NE(rejected->reason.find("can never run"), std::string::npos) << rejected->reason;
}

TEST_F(CoverageTest, AGroupBehindAWeakerConditionIsUnreachable) {
  for (const char* before : {"D % 2 == 0 && D <= 4096", "HALF <= 2048 && D % 4 == 0"}) {
    passed("//! let HALF = ceil_div(D * 1, 2)\n//! let OTHER = ceil_div(D, 2)\n//! when " +
           std::string(before) + "\n" + kLaunch +
           two_groups("D % 4 == 0 && D <= 2000 && OTHER <= 2000"));
    EXPECT_EQ(report.groups[1].state, "unreachable") << before;
  }
}

struct CodeCase {
  const char* code;
  const char* dim;
  int64_t first, second;
};

TEST_F(CoverageTest, ComparisonsOfCodeAreSolved) {
  for (const CodeCase& row :
       {CodeCase{"mov.u32 %r2, %nctaid.x;\nsetp.eq.s32 %p1, %r2, 37;", "B", 144, 145},
        {"mov.u32 %r2, %nctaid.x;\nmad.lo.s32 %r3, %r2, 5, 2;\nsetp.eq.s32 %p1, %r3, 187;", "B",
         144, 145},
        {"mov.u32 %r2, %ctaid.x;\nsetp.eq.s32 %p1, %r2, 37;", "B", 148, 149},
        {"shr.u32 %r2, %r1, 7;\nsetp.ne.s32 %p1, %r2, 0;", "D", 127, 128},
        {"and.b32 %r2, %r1, -128;\nsetp.eq.s32 %p1, %r2, 0;", "D", 127, 128},
        {"and.b32 %r2, %r1, 64;\nsetp.eq.s32 %p1, %r2, 0;", "D", 63, 64},
        {"mul.lo.s32 %r2, %r1, 3;\nsetp.gt.s32 %p1, %r2, 300;", "D", 100, 101}}) {
    const std::string text =
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry twice(.param .u64 x, .param .u64 y, .param .u32 d) {\n"
        ".reg .pred %p<2>;\n.reg .b32 %r<4>;\nld.param.u32 %r1, [d];\n" +
        std::string(row.code) + "\nret;\n}\n";
    const ptx::Module code = ptx::parse(text).value();
    const kernel::Module module =
        module_with("//! launch twice grid(ceil_div(B, 4)) block(64) args(x, y, D)\n");
    const shapes::PlanView plan = view(module);
    const auto thresholds =
        shapes::code_thresholds(code.functions.front(), module.groups.front().launches.front());
    ASSERT_EQ(thresholds.size(), 1U) << row.code;
    const auto sides =
        shapes::sides_of(thresholds.front(), plan, shapes::small_dims(task), row.dim);
    ASSERT_TRUE(sides.has_value()) << thresholds.front().text;
    EXPECT_EQ(sides->first, row.first) << thresholds.front().text;
    EXPECT_EQ(sides->second, row.second) << thresholds.front().text;
  }
}

// B is 4 modulo 11, and D an odd square: no constant of the code is such an extent.
TEST_F(CoverageTest, ConditionsOfTheLaunchMeet) {
  const std::string text =
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry twice(.param .u64 x, .param .u64 y, .param .u32 d) {\n"
      ".reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .f32 %f<4>;\nld.param.u32 %r1, [d];\n"
      "mov.u32 %r2, %nctaid.x;\nrem.u32 %r3, %r2, 11;\nsetp.eq.s32 %p1, %r3, 4;\n"
      "cvt.rn.f32.u32 %f1, %r1;\nsqrt.rn.f32 %f2, %f1;\ncvt.rni.s32.f32 %r4, %f2;\n"
      "mul.lo.s32 %r5, %r4, %r4;\nsetp.eq.s32 %p2, %r5, %r1;\n"
      "and.b32 %r6, %r1, 1;\nsetp.ne.s32 %p3, %r6, 0;\nret;\n}\n";
  const ptx::Module code = ptx::parse(text).value();
  const kernel::Module module =
      module_with("//! launch twice grid(B) block(64) args(x, y, D)\n");
  const shapes::PlanView plan = view(module);
  const std::vector<shapes::LaunchConditions> conditions = {
      {code.functions.front(), module.groups.front().launches.front()}};
  ASSERT_EQ(conditions.front().count(), 3U);
  const auto odd_square = [](int64_t extent) {
    for (int64_t root = 1; root * root <= extent; root += 2) {
      if (root * root == extent) return true;
    }
    return false;
  };
  for (const uint64_t secret : {1, 2, 3}) {
    const auto dims = shapes::condition_shapes(plan, conditions, 0, {}, secret);
    EXPECT_TRUE(std::ranges::any_of(dims, [&](const task::Dims& one) {
      return one.at("B") % 11 == 4 && odd_square(one.at("D"));
    })) << secret;
    EXPECT_TRUE(shapes::condition_shapes(plan, conditions, 0, dims, secret).size() < dims.size());
  }
}

TEST_F(CoverageTest, SecretExtentsDifferByRun) {
  shapes::ShapeLimits limits = shapes::virtual_limits();
  std::vector<std::vector<task::Dims>> drawn;
  for (const uint64_t seed : {1, 1, 2}) {
    limits.secret = seed;
    drawn.emplace_back();
    for (const shapes::ShapeCase& shape : shapes::plan_shapes(task, limits).value().cases) {
      if (shape.secret) drawn.back().push_back(shape.dims);
    }
  }
  EXPECT_EQ(drawn[0], drawn[1]);
  EXPECT_NE(drawn[0], drawn[2]);
  for (const char* dim : {"B", "D"}) {
    EXPECT_TRUE(
        std::ranges::any_of(drawn[0], [&](const task::Dims& dims) { return dims.at(dim) > 4099; }));
  }
}

struct SidesCase {
  const char* when;
  const char* dim;
  int64_t first, second;
};

TEST_F(CoverageTest, ThresholdsAreSolved) {
  for (const SidesCase& row : {SidesCase{"B >= 5000", "B", 4999, 5000},
                               {"B > 5000", "B", 5000, 5001},
                               {"D == 511", "D", 510, 511},
                               {"D % 8 < 1", "D", 7, 8},
                               {"B <= 33", "B", 33, 34},
                               {"min(B, 2048) > 1", "B", 1, 2}}) {
    const kernel::Module module = module_with(two_groups(row.when));
    const shapes::PlanView plan = view(module);
    ASSERT_TRUE(plan.usable());
    const std::vector<shapes::Threshold> thresholds = shapes::plan_thresholds(module);
    ASSERT_FALSE(thresholds.empty()) << row.when;
    const auto at = std::ranges::find_if(thresholds, [&](const shapes::Threshold& one) {
      return one.text.ends_with(row.when) || one.text.ends_with("(D % 8) < 1");
    });
    ASSERT_NE(at, thresholds.end()) << row.when;
    const auto sides = shapes::sides_of(*at, plan, shapes::small_dims(task), row.dim);
    ASSERT_TRUE(sides.has_value()) << row.when;
    EXPECT_EQ(sides->first, row.first) << row.when;
    EXPECT_EQ(sides->second, row.second) << row.when;
  }
}

TEST_F(CoverageTest, NamesOfTheModuleFollowFromTheTasksDims) {
  const kernel::Module module =
      module_with("//! let ROWS = ceil_div(B, 4)\n" + two_groups("ROWS > 250 && D % 2 == 1"));
  const shapes::PlanView plan = view(module);
  EXPECT_EQ(plan.group_at({{"B", 1001}, {"D", 3}}), 0);
  EXPECT_EQ(plan.group_at({{"B", 1000}, {"D", 3}}), 1);
  EXPECT_EQ(plan.group_at({{"B", 1001}, {"D", 4}}), 1);
}

}  // namespace

}  // namespace kw::gate
