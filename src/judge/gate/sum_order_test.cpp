#include "gate/sum_order.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "gate/fakes.h"
#include "graph/builder.h"
#include "kernel/parse_module.h"

namespace kw::gate {

namespace {

using Terms = std::vector<float>;
using Adding = std::function<float(const Terms&)>;

float in_turn(const Terms& terms) {
  float sum = 0;
  for (const float term : terms) sum += term;
  return sum;
}

float in_strands(const Terms& terms, size_t strands) {
  std::vector<float> parts(strands, 0);
  for (size_t i = 0; i < terms.size(); ++i) parts[i % strands] += terms[i];
  for (size_t half = strands / 2; half > 0; half /= 2)
    for (size_t i = 0; i < half; ++i) parts[i] += parts[i + half];
  return parts[0];
}

float pairwise(Terms terms) {
  for (size_t step = 1; step < terms.size(); step *= 2)
    for (size_t i = 0; i + step < terms.size(); i += 2 * step) terms[i] += terms[i + step];
  return terms[0];
}

/// y[B] = sum of x[B, D] in fp32.
class SumReference : public task::Reference {
 public:
  Result<graph::Graph> trace(const task::Dims& dims) const override {
    graph::Builder b;
    const graph::NodeId x =
        b.input("x", tensor::DType::Fp32,
                {graph::Dim::symbol("B", dims.at("B")), graph::Dim::symbol("D", dims.at("D"))});
    const graph::NodeId y = KW_TRY(b.reduce(graph::Op::Sum, x, {1}, false));
    return std::move(b).finish({{"y", y}});
  }
};

/// Adds every row of its input as the test says.
class AddingDevice : public FakeDevice {
 public:
  explicit AddingDevice(Adding adding) : FakeDevice(true), adding_(std::move(adding)) {}
  int launches = 0;

  Result<ports::RunOutcome> run(ports::ImageId, const kernel::Program& program,
                                const ports::InputViews& inputs,
                                const ports::RunOptions&) override {
    ++launches;
    const tensor::HostTensor& x = inputs[0];
    ports::RunOutcome outcome;
    for (const kernel::Buffer& buffer : program.buffers) {
      outcome.buffers.push_back({buffer.dtype, buffer.shape, {}});
      outcome.buffers.back().data.resize(static_cast<size_t>(buffer.bytes));
    }
    for (int64_t row = 0; row < x.shape[0]; ++row) {
      Terms terms;
      for (int64_t i = 0; i < x.shape[1]; ++i)
        terms.push_back(static_cast<float>(tensor::get_element(x, row * x.shape[1] + i)));
      tensor::set_element(outcome.buffers[1], row, static_cast<double>(adding_(terms)));
    }
    return outcome;
  }

 private:
  Adding adding_;
};

std::string order_text(const Adding& adding, int64_t rows, int64_t terms, int* launches = nullptr) {
  task::Task task;
  task.name = "sum";
  task::TensorSpec x;
  x.name = "x";
  x.shape = {"B", "D"};
  task.inputs = {x};
  task.output_names = {"y"};
  task.dims = {{"B", {}}, {"D", {}}};
  task.reference = std::make_shared<SumReference>();
  const task::Dims dims = {{"B", rows}, {"D", terms}};
  task.correctness_shapes = task.benchmark_shapes = {dims};
  const kernel::Module module =
      *kernel::parse(
           "//! kernelwright 1\n//! task sum\n//! input x: fp32[B, D]\n//! output y: fp32[B]\n"
           "//! launch add grid(B) block(32) args(x, y, D)\n"
           "__global__ void add(const float* x, float* y, int d) {}\n",
           "sum.cu")
           .module;
  FakeCompiler compiler;
  AddingDevice device(adding);
  Programs programs(module, compiler, device, fake_bindings(), 60);
  const graph::Graph graph = *task.graph_at(dims);
  const shapes::Matching matching = *shapes::match_tensors(module, task, graph);
  const shapes::ShapeCase shape{dims, "", true, false, graph, 0};
  const auto order = probe_sum_order({programs, matching, task, {}}, shape);
  if (!order) return order.error().message;
  if (launches != nullptr) *launches = device.launches;
  return *order ? (*order)->text() : "not set";
}

TEST(SumOrder, NamesTheUsualOrders) {
  EXPECT_EQ(order_text(in_turn, 100, 64), "64 terms, one after another");
  EXPECT_EQ(order_text([](const Terms& t) { return in_strands(t, 32); }, 200, 1024),
            "1024 terms: partial sums of 32, 32 apart, joined in 5 steps");
  EXPECT_EQ(order_text([](const Terms& t) { return in_strands(t, 128); }, 200, 1024),
            "1024 terms: partial sums of 8, 128 apart, joined in 7 steps");
  EXPECT_EQ(order_text(pairwise, 100, 64), "64 terms: partial sums of 2, 1 apart, joined in 5 steps");
}

TEST(SumOrder, AsksOneRowAtATimeWhereThereIsOnlyOne) {
  int launches = 0;
  EXPECT_EQ(order_text([](const Terms& t) { return in_strands(t, 32); }, 1, 1024, &launches),
            "1024 terms: partial sums of 32, 32 apart, joined in 5 steps");
  EXPECT_LE(launches, 40);
}

TEST(SumOrder, AnExactSumHasNoOrder) {
  const Adding exact = [](const Terms& terms) {
    double units = 0, huge = 0;
    for (const float term : terms) (std::fabs(term) > 1e20f ? huge : units) += term;
    return static_cast<float>(huge + units);
  };
  EXPECT_EQ(order_text(exact, 40, 64), "64 terms; their order does not show");
}

}  // namespace

}  // namespace kw::gate
