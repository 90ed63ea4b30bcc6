// Random graphs over every op: whatever they compute, nothing crashes, the result does not depend
// on threads, and the run that rounds every node as declared stays within the bound of the truth.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "exec/bound.h"
#include "oracle/random_graph.h"

namespace kw::oracle {
namespace {

using exec::Truth;
using exec::TruthOptions;
using tensor::HostTensor;

double value_at(const HostTensor& tensor, int64_t at) { return tensor::get_element(tensor, at); }

// Returns how many elements the bound says something about.
int64_t check_output(const Truth& truth, const HostTensor& declared, const std::string& what) {
  int64_t said = 0;
  for (size_t k = 0; k < truth.value.size(); ++k) {
    const double t = truth.value[k], got = value_at(declared, static_cast<int64_t>(k));
    const double bound = exec::bound_at(truth, static_cast<int64_t>(k), false);
    EXPECT_FALSE(std::isnan(bound)) << what;
    const bool open = !truth.may_overflow.empty() && truth.may_overflow[k] != 0;
    if (open || !std::isfinite(bound)) continue;
    if (!std::isfinite(t)) {
      const bool same = std::isnan(t) ? std::isnan(got) : got == t;
      EXPECT_TRUE(same) << what << " at " << k << ": " << got << " for " << t;
      continue;
    }
    if (std::fabs(t) > exec::largest_finite(truth.dtype)) continue;
    ++said;
    EXPECT_LE(std::fabs(got - t), bound) << what << " at " << k << ": " << got << " for " << t;
    if (testing::Test::HasFailure()) return said;
  }
  return said;
}

uint32_t graphs_to_draw() {
  const char* wanted = std::getenv("KW_RANDOM_GRAPHS");
  return wanted == nullptr ? 1500 : static_cast<uint32_t>(std::strtoul(wanted, nullptr, 10));
}

TEST(RandomGraphs, DeclaredRunsStayWithinTheBound) {
  int64_t said = 0, all = 0;
  for (uint32_t seed = 0; seed < graphs_to_draw() && !HasFailure(); ++seed) {
    RandomGraph random(seed);
    TestGraph& g = random.graph();
    const graph::Graph graph = g.finish(random.outputs());
    TruthOptions one, three;
    one.threads = 1;
    three.threads = 3;
    const auto truths = Interpreter().truth(graph, g.inputs(), one);
    const auto again = Interpreter().truth(graph, g.inputs(), three);
    const auto declared = Interpreter().op_by_op(graph, g.inputs(), one);
    const std::string text = "seed " + std::to_string(seed) + "\n" + graph::print(graph);
    ASSERT_EQ(truths.has_value(), again.has_value()) << text;
    if (!truths) {
      EXPECT_NE(truths.error().blame, Blame::Bug) << truths.error().message << "\n" << text;
      continue;
    }
    ASSERT_TRUE(declared) << declared.error().message << "\n" << text;
    for (size_t k = 0; k < truths->size(); ++k) {
      const Truth &truth = (*truths)[k], &other = (*again)[k];
      EXPECT_EQ(truth.a, other.a) << text;
      EXPECT_EQ(truth.h, other.h) << text;
      EXPECT_EQ(truth.jump, other.jump) << text;
      said += check_output(truth, (*declared)[k], text);
      all += static_cast<int64_t>(truth.value.size());
    }
  }
  // A bound that says nothing would be easy to keep.
  EXPECT_GT(said, all / 4);
}

}  // namespace
}  // namespace kw::oracle
