// Random graphs over all ops: nothing may crash, results must not depend on threads, and a run that
// rounds every node as declared must stay within the bound.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "ports/bound.h"
#include "truth/random_graph.h"

namespace kw::truth {
namespace {

using ports::Truth;
using ports::TruthOptions;
using tensor::HostTensor;

double value_at(const HostTensor& tensor, int64_t at) { return tensor::get_element(tensor, at); }

// Returns the number of elements with a finite bound.
int64_t check_output(const Truth& truth, const HostTensor& declared, const std::string& what) {
  int64_t said = 0;
  for (size_t k = 0; k < truth.value.size(); ++k) {
    const double t = truth.value[k], got = value_at(declared, static_cast<int64_t>(k));
    const double bound = ports::bound_at(truth, static_cast<int64_t>(k), false);
    EXPECT_FALSE(std::isnan(bound)) << what;
    const bool open = !truth.may_overflow.empty() && truth.may_overflow[k] != 0;
    if (open || !std::isfinite(bound)) continue;
    if (!std::isfinite(t)) {
      const bool same = std::isnan(t) ? std::isnan(got) : got == t;
      EXPECT_TRUE(same) << what << " at " << k << ": " << got << " for " << t;
      continue;
    }
    if (std::fabs(t) > ports::largest_finite(truth.dtype)) continue;
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

struct Said {
  int64_t elements = 0, all = 0;  // elements with a bound, all elements
};

Said check_graph(uint32_t seed) {
  Said count;
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
  EXPECT_EQ(truths.has_value(), again.has_value()) << text;
  if (!truths || !again) {
    EXPECT_NE(truths.error().blame, Blame::Bug) << truths.error().message << "\n" << text;
    return count;
  }
  EXPECT_TRUE(declared) << declared.error().message << "\n" << text;
  if (!declared) return count;
  for (size_t k = 0; k < truths->size(); ++k) {
    const Truth &truth = (*truths)[k], &other = (*again)[k];
    EXPECT_EQ(truth.a, other.a) << text;
    EXPECT_EQ(truth.h, other.h) << text;
    EXPECT_EQ(truth.jump, other.jump) << text;
    count.elements += check_output(truth, (*declared)[k], text);
    count.all += static_cast<int64_t>(truth.value.size());
  }
  return count;
}

TEST(RandomGraphs, DeclaredRunsStayWithinTheBound) {
  int64_t said = 0, all = 0;
  for (uint32_t seed = 0; seed < graphs_to_draw() && !HasFailure(); ++seed) {
    const Said count = check_graph(seed);
    said += count.elements;
    all += count.all;
  }
  // An infinite bound would be easy to satisfy.
  EXPECT_GT(said, all / 4);
}

// Found by longer runs; each has a different cause.
TEST(RandomGraphs, WhatWasOnceOutsideStaysWithin) {
  check_graph(8686);   // a step of one next to the least int64, negated
  check_graph(11700);  // a quotient whose other branch lies next to a step
}

}  // namespace
}  // namespace kw::truth
