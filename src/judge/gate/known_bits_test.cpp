// Candidates share known bits of a pool: outputs with bits judged right are not copied again, all
// others are.
#include "gate/known_bits.h"

#include <gtest/gtest.h>

#include "gate/fakes.h"
#include "gate/gate.h"
#include "kernel/parse_module.h"

namespace kw::gate {
namespace {

class KnownBitsTest : public testing::Test {
 protected:
  task::Task task = fake_task();
  FakeOracle oracle;
  FakeCompiler compiler;
  FakeDevice virtual_gpu{true}, gpu{false};
  uint64_t drawn = 1000;
  std::optional<Pool> small, large;
  int large_copies = 0, large_runs = 0;  // of the last candidate, at the benchmark shape

  void SetUp() override {
    task.benchmark_shapes = {{{"B", 1024}, {"D", 1024}}};
    const Entropy entropy = [this]() -> Result<uint64_t> { return ++drawn; };
    shapes::ShapeLimits limits = shapes::device_limits();
    limits.derive = false;
    shapes::ShapeLimits few = shapes::virtual_limits();
    few.derive = false;
    PoolOptions only;
    only.family = "normal";  // one set per shape
    small.emplace(
        Pool::make(task, oracle, shapes::plan_shapes(task, few).value(), only, entropy).value());
    large.emplace(
        Pool::make(task, oracle, shapes::plan_shapes(task, limits).value(), only, entropy).value());
    gpu.instead = [this](const kernel::Program& program, const ports::RunOptions& options) {
      const bool at = program.buffers.back().shape == std::vector<int64_t>{1024, 1024};
      large_runs += at ? 1 : 0;
      large_copies += at && options.copy_outputs ? 1 : 0;
      return std::optional<ports::RunOutcome>();
    };
  }

  GateReport judged(FakeDevice::Kernel kernel) {
    gpu.kernel = std::move(kernel);
    large_copies = large_runs = 0;
    GateRequest request;
    request.compiler = &compiler;
    const kernel::Bindings fixed = fake_bindings();
    request.virtual_gpu = {&virtual_gpu, fixed, &*small};
    request.gpu = GateDevice{&gpu, fixed, &*large};
    request.entropy = [this]() -> Result<uint64_t> { return ++drawn; };
    const kernel::ParseOutcome parsed = kernel::parse(kTwice, "twice.cu");
    return judge(*parsed.module, request).value();
  }
};

double honest(double x, int64_t, int64_t) { return 2 * x + 1; }

TEST_F(KnownBitsTest, TheSameBitsAreComparedOnce) {
  const GateReport first = judged(honest);
  ASSERT_TRUE(record::passed(first.verdict));
  const int copies = large_copies;
  ASSERT_GT(copies, 0);
  const GateReport again = judged(honest);
  ASSERT_TRUE(record::passed(again.verdict));
  EXPECT_EQ(large_copies, copies - 1) << "all but relations, whose inputs are drawn anew";
  EXPECT_GT(large_runs, large_copies);
  EXPECT_EQ(record::to_json(again.verdict).dump(), record::to_json(first.verdict).dump());
  ASSERT_EQ(again.cells.size(), first.cells.size());
  for (size_t i = 0; i < first.cells.size(); ++i) {
    EXPECT_EQ(again.cells[i].summary.elements, first.cells[i].summary.elements);
    EXPECT_EQ(again.cells[i].summary.max_z, first.cells[i].summary.max_z);
  }
}

TEST_F(KnownBitsTest, OtherBitsAreCompared) {
  ASSERT_TRUE(record::passed(judged(honest).verdict));
  const int copies = large_copies;
  const GateReport close =
      judged([](double x, int64_t, int64_t) { return (2 * x + 1) * 1.0000001; });
  EXPECT_TRUE(record::passed(close.verdict));
  EXPECT_EQ(large_copies, copies);
}

TEST_F(KnownBitsTest, WrongBitsAreFoundOutWhateverIsKnown) {
  ASSERT_TRUE(record::passed(judged(honest).verdict));
  const GateReport report = judged([](double x, int64_t index, int64_t count) {
    return count == 1024 * 1024 && index == 77 ? 2 * x : 2 * x + 1;
  });
  const auto* wrong = std::get_if<record::Wrong>(&report.verdict);
  ASSERT_NE(wrong, nullptr);
  EXPECT_EQ(wrong->summary.worst->index, (std::vector<int64_t>{0, 77}));
}

TEST_F(KnownBitsTest, WrongBitsAreNeverLearned) {
  const auto wrong = [](double x, int64_t index, int64_t count) {
    return count == 1024 * 1024 && index == 77 ? 2 * x : 2 * x + 1;
  };
  EXPECT_FALSE(record::passed(judged(wrong).verdict));
  EXPECT_FALSE(record::passed(judged(wrong).verdict));
}

}  // namespace
}  // namespace kw::gate
