#include "gate/batches.h"

#include <gtest/gtest.h>

#include "gate/fakes.h"
#include "inputs/families.h"
#include "kernel/parse_module.h"

namespace kw::gate {

namespace {

/// Varies the batches of y = 2 x + 1, computed by the given kernel.
class BatchesTest : public testing::Test {
 protected:
  task::Task task = fake_task();
  FakeOracle oracle;
  FakeCompiler compiler;
  FakeDevice device{true};
  double batch_seconds = 0.25;

  BatchReport vary(FakeDevice::Kernel kernel, const std::string& text = kTwice) {
    device.kernel = std::move(kernel);
    const kernel::Module module = *kernel::parse(text, "twice.cu").module;
    Pool pool = *Pool::make(task, oracle, *shapes::plan_shapes(task, shapes::virtual_limits()), {},
                            []() -> Result<uint64_t> { return 5; });
    Programs programs(module, compiler, device, fake_bindings(), 60);
    const graph::Graph graph = *task.graph_at(task.correctness_shapes.front());
    const shapes::Matching matching = *shapes::match_tensors(module, task, graph);
    BatchOptions options;
    options.seed = 7;
    options.batch_seconds = batch_seconds;
    return *vary_batches(pool, {programs, matching, task, {}}, options);
  }
};

TEST_F(BatchesTest, AnOrdinaryKernelIsInvariantAlongEveryBatchDim) {
  const BatchReport report = vary([](double x, int64_t, int64_t) { return 2 * x + 1; });
  EXPECT_EQ(report.same(), true);
  EXPECT_EQ(report.dims, (std::vector<std::string>{"B", "D"}));
  EXPECT_GE(report.runs, 8);
}

TEST_F(BatchesTest, AResultThatDependsOnTheSizeOfTheBatchIsFound) {
  const BatchReport report = vary(
      [](double x, int64_t, int64_t count) { return 2 * x + (count > 100 ? 1 : 1 + 0x1p-23); });
  EXPECT_EQ(report.same(), false);
  EXPECT_NE(report.difference.find("y along B: row "), std::string::npos) << report.difference;
}

TEST_F(BatchesTest, AResultThatDependsOnThePlaceIsFound) {
  const BatchReport report =
      vary([](double x, int64_t index, int64_t) { return 2 * x + (index < 32 ? 1 : 1 + 0x1p-23); });
  EXPECT_EQ(report.same(), false);
}

TEST_F(BatchesTest, AResultThatDependsOnAPreviousRowIsFound) {
  double before = 0;
  const BatchReport report = vary([&before](double x, int64_t, int64_t) {
    const double plus = before > 2 ? 1 + 0x1p-23 : 1;
    before = x;
    return 2 * x + plus;
  });
  EXPECT_EQ(report.same(), false);
}

TEST_F(BatchesTest, EveryLaunchGroupAlongTheBatchIsRun) {
  const std::string text =
      "//! kernelwright 1\n"
      "//! task twice\n"
      "//! input x: fp32[B, D]\n"
      "//! output y: fp32[B, D]\n"
      "//! when B >= 16 && B < 32\n"
      "//! launch few grid(B) block(64) args(x, y, D)\n"
      "//! when true\n"
      "//! launch many grid(B) block(64) args(x, y, D)\n"
      "__global__ void few(const float* x, float* y, int d) {}\n"
      "__global__ void many(const float* x, float* y, int d) {}\n";
  std::set<int64_t> rows;
  device.instead = [&rows](const kernel::Program& program,
                           const ports::RunOptions&) -> std::optional<ports::RunOutcome> {
    rows.insert(program.buffers.front().shape.front());
    return std::nullopt;
  };
  EXPECT_EQ(vary({}, text).same(), true);
  EXPECT_TRUE(rows.count(16) == 1) << "a batch of the group of 16 to 31 rows";
  EXPECT_TRUE(rows.count(1) == 1);
}

TEST_F(BatchesTest, ARestOfASmallDivisorIsFound) {
  device.instead = [this](const kernel::Program& program, const ports::RunOptions&) {
    const int64_t rows = program.buffers.front().shape.front();
    device.kernel = [rows](double x, int64_t, int64_t) {
      return 2 * x + (rows % 7 == 3 && rows != 3 ? 1 + 0x1p-23 : 1);
    };
    return std::optional<ports::RunOutcome>();
  };
  const BatchReport report = vary({});
  EXPECT_EQ(report.same(), false);
}

TEST_F(BatchesTest, ALongBatchIsFoundThoughNoShapeHasItsSize) {
  device.instead = [this](const kernel::Program& program, const ports::RunOptions&) {
    const int64_t rows = program.buffers.front().shape.front();
    device.kernel = [rows](double x, int64_t, int64_t) {
      return 2 * x + (rows > 6000 ? 1 + 0x1p-23 : 1);
    };
    return std::optional<ports::RunOutcome>();
  };
  const BatchReport report = vary({});
  EXPECT_EQ(report.same(), false);
  EXPECT_GT(report.most_rows, 6000);
}

TEST_F(BatchesTest, SizesStayWithinTheTasksRange) {
  task.dims["B"].multiple = 8;
  task.dims["B"].high = 2000;
  std::set<int64_t> rows;
  device.instead = [&rows](const kernel::Program& program, const ports::RunOptions&) {
    rows.insert(program.buffers.front().shape.front());
    return std::optional<ports::RunOutcome>();
  };
  EXPECT_EQ(vary({}).same(), true);
  EXPECT_LE(*rows.rbegin(), 2000);
  for (const int64_t size : rows) EXPECT_EQ(size % 8, 0) << size;
}

TEST_F(BatchesTest, SizesThatTakeTooLongAreNamed) {
  batch_seconds = 0;
  const BatchReport report = vary({});
  EXPECT_EQ(report.same(), true);
  EXPECT_EQ(report.not_tried.count(65), 1U) << "beside the benchmark's 64";
}

TEST_F(BatchesTest, ARunThatFailsIsTheCandidatesFailure) {
  device.instead = [](const kernel::Program& program,
                      const ports::RunOptions&) -> std::optional<ports::RunOutcome> {
    if (program.buffers.front().shape.front() != 1) return std::nullopt;
    ports::RunOutcome outcome;
    outcome.status = ports::RunStatus::Faulted;
    return outcome;
  };
  const BatchReport report = vary({});
  ASSERT_TRUE(report.failed.has_value());
  EXPECT_EQ(report.failed_dims.at("B"), 1);
}

TEST_F(BatchesTest, AWeightsDimIsNotABatch) {
  task.inputs.front().role = task::Role::Weight;
  const BatchReport report = vary({});
  EXPECT_EQ(report.same(), std::nullopt);
  EXPECT_EQ(report.runs, 0);
}

}  // namespace

}  // namespace kw::gate
