// The oracle's truth against the second opinion. The problem: both may be wrong, but hardly in the
// same way, because they share no code. Graphs come from three places: random ones over all ops,
// the op table (every function of the front end), and the references that PyTorch agrees with.
// The oracle computes in fp64, so its values must be far inside its bound: a millionth of it where
// nodes are fp32 or smaller, all of it where they are fp64. An honest run in the declared precision
// (rounded_opinion) must lie within the bound as well. What says nothing is left out: elements
// whose bound is infinite, and random graphs that need more than the range of fp64, where the two
// interpreters define values differently. The tests require that most is left.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstdlib>

#include "cases.h"
#include "inputs/families.h"
#include "os/files.h"
#include "ports/bound.h"
#include "second_opinion.h"
#include "table.h"
#include "tracing.h"
#include "truth/random_graph.h"

namespace kw::mutation {
namespace {

using ports::Truth;
using tensor::DType;
using tensor::HostTensor;

/// How much of the oracle's bound an opinion may use.
constexpr long double kWideShare = 1e-6L, kDoubleShare = 1, kDeclaredShare = 1;

struct Tally {
  int64_t elements = 0, open = 0;
};

double jump_at(const Truth& truth, size_t k) {
  return truth.jump.empty() ? 0 : static_cast<double>(truth.jump[k]);
}

bool has_doubles(const graph::Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [](const graph::Node& node) { return node.dtype == DType::Fp64; });
}

/// "" if the integer is the oracle's, or within its jump.
std::string compare_integer(const Truth& truth, size_t k, const WideTensor& got) {
  const auto miss = static_cast<long double>(got.integers[k]) - truth.integers[k];
  if (std::fabs(miss) <= jump_at(truth, k)) return "";
  return fmt::format("{} for {}", got.integers[k], truth.integers[k]);
}

/// "" if the value lies within `share` of the bound.
std::string compare_float(const Truth& truth, size_t k, const WideTensor& got, long double share,
                          Tally& tally) {
  const double want = truth.value[k], most = ports::largest_finite(truth.dtype);
  const double bound = ports::bound_at(truth, static_cast<int64_t>(k), false);
  const auto have = static_cast<double>(got.value[k]);
  if (!std::isfinite(bound)) {
    ++tally.open;
    return "";
  }
  const bool beyond = std::fabs(want) > most && std::fabs(have) > most;
  if (have == want || (std::isnan(want) && std::isnan(have))) return "";
  if (beyond && std::signbit(want) == std::signbit(have)) return "";
  const bool exact = truth.exact && jump_at(truth, k) == 0;
  const long double used = std::fabs(got.value[k] - want) / bound;
  // A bound as large as a part of the value says that little of it is known: of sin(1e10) in fp32,
  // not even the sign. Then fp64 does not know a millionth of the bound either.
  const bool vague = bound >= std::fabs(want) / 4 || jump_at(truth, k) > 0;
  if (!exact && used <= (vague ? 1 : share)) return "";
  return fmt::format("{:.20g} for {:.20g}, bound {:g}", have, want, bound);
}

/// What is wrong with the first element that differs.
std::string compare_output(const Truth& truth, const WideTensor& got, long double share,
                           Tally& tally) {
  if (truth.dtype != got.dtype || truth.shape != got.shape ||
      truth.value.size() != got.value.size())
    return "another dtype or shape";
  tally.elements += static_cast<int64_t>(got.value.size());
  for (size_t k = 0; k < got.value.size(); ++k) {
    const std::string wrong = truth.integers.empty() ? compare_float(truth, k, got, share, tally)
                                                     : compare_integer(truth, k, got);
    if (!wrong.empty()) return fmt::format("{}[{}]: {}", truth.name, k, wrong);
  }
  return "";
}

/// The truth without the elements for which a kernel of the declared precision may have another
/// class or value: rounded_opinion is such a kernel.
Truth certain(const Truth& truth) {
  Truth kept = truth;
  if (kept.a.empty()) kept.a.resize(kept.value.size());
  kept.exact = false;
  for (size_t k = 0; k < kept.value.size(); ++k) {
    const bool overflows = !truth.may_overflow.empty() && truth.may_overflow[k] != 0;
    const bool beyond = std::fabs(truth.value[k]) > ports::largest_finite(truth.dtype);
    if (overflows || (beyond && std::isfinite(truth.value[k])))
      kept.a[k] = std::numeric_limits<float>::infinity();
  }
  return kept;
}

/// Both opinions on one graph; "" if the oracle agrees.
std::string compare_graph(const graph::Graph& graph, const std::vector<HostTensor>& inputs,
                          Tally& tally) {
  ports::TruthOptions options;
  options.threads = 1;
  const auto truths = truth::Interpreter().truth(graph, inputs, options);
  const auto wide = second_opinion(graph, inputs);
  const auto declared = rounded_opinion(graph, inputs);
  if (!truths) return wide ? "only the oracle refuses: " + truths.error().message : "";
  if (!wide) return "refused: " + wide.error().message;
  if (!declared) return "refused when rounded: " + declared.error().message;
  const long double share = has_doubles(graph) ? kDoubleShare : kWideShare;
  Tally rounded;
  for (size_t i = 0; i < truths->size(); ++i) {
    std::string wrong = compare_output((*truths)[i], (*wide)[i], share, tally);
    if (!wrong.empty()) return "wide: " + wrong;
    wrong = compare_output(certain((*truths)[i]), (*declared)[i], kDeclaredShare, rounded);
    if (!wrong.empty()) return "rounded: " + wrong;
  }
  return "";
}

/// Whether a node has values that fp64 cannot hold, or integers that a double cannot.
bool leaves_range(graph::Graph graph, const std::vector<HostTensor>& inputs) {
  graph.outputs.clear();
  for (size_t id = 0; id < graph.nodes.size(); ++id)
    graph.outputs.push_back({fmt::format("n{}", id), static_cast<graph::NodeId>(id)});
  std::feclearexcept(FE_OVERFLOW);
  const auto nodes = second_opinion(graph, inputs);
  if (!nodes || std::fetestexcept(FE_OVERFLOW) != 0) return true;
  for (size_t id = 0; id < nodes->size(); ++id) {
    const WideTensor& node = (*nodes)[id];
    for (const long double v : node.value) {
      const long double size = std::fabs(v);
      const bool fits =
          node.integers.empty() ? size <= 0x1p1000L && size >= 0x1p-1000L : size <= 0x1p53L;
      if (!fits && std::isfinite(v) && v != 0 && !graph.nodes[id].inputs.empty()) return true;
    }
  }
  return false;
}

uint32_t graphs_to_compare() {
  const char* wanted = std::getenv("KW_RANDOM_GRAPHS");
  return wanted == nullptr ? 5000 : static_cast<uint32_t>(std::strtoul(wanted, nullptr, 10));
}

TEST(OracleAgrees, OnRandomGraphs) {
  Tally tally;
  uint32_t compared = 0;
  for (uint32_t seed = 0; seed < graphs_to_compare(); ++seed) {
    truth::RandomGraph random(seed);
    const graph::Graph graph = random.graph().finish(random.outputs());
    if (leaves_range(graph, random.graph().inputs())) continue;
    const std::string wrong = compare_graph(graph, random.graph().inputs(), tally);
    EXPECT_EQ(wrong, "") << "seed " << seed << "\n" << graph::print(graph);
    ++compared;
  }
  EXPECT_GT(compared, graphs_to_compare() / 2);
  EXPECT_LT(tally.open, tally.elements / 4);
}

class OpTables : public testing::TestWithParam<std::string> {};

TEST_P(OpTables, OracleAgrees) {
  const auto text = os::read_file(std::string(KW_OPS_DIR) + "/tables/" + GetParam());
  ASSERT_TRUE(text) << text.error().message;
  const auto cases = ops::parse_table(*text);
  ASSERT_TRUE(cases) << cases.error().message;
  const auto tracing = ops::Tracing::parse(*cases);
  ASSERT_TRUE(tracing) << tracing.error().message;
  Tally tally;
  for (size_t i = 0; i < cases->size(); ++i) {
    const ops::Case& one = (*cases)[i];
    if (one.refused) continue;
    const auto graph = tracing->trace(one, i);
    ASSERT_TRUE(graph) << graph.error().message;
    std::vector<HostTensor> inputs;
    for (const ops::InputSpec& spec : one.inputs)
      inputs.push_back(ops::make_input(one, spec).value());
    EXPECT_EQ(compare_graph(*graph, inputs, tally), "") << one.name << ": " << one.expression;
  }
  EXPECT_LE(tally.open, tally.elements / 4);
}

std::vector<std::string> table_files() { return os::list_directory(KW_OPS_DIR "/tables"); }

std::string plain_name(const testing::TestParamInfo<std::string>& info) {
  return info.param.substr(0, info.param.find('.'));
}

INSTANTIATE_TEST_SUITE_P(All, OpTables, testing::ValuesIn(table_files()), plain_name);

/// About how many additions both interpreters make.
double work_of(const graph::Graph& graph) {
  double work = 0;
  for (const graph::Node& node : graph.nodes) {
    auto elements = static_cast<double>(graph::count_of(node.shape).value());
    if (node.op == graph::Op::MatMul)
      elements *= static_cast<double>(graph[node.inputs[0]].shape.back().value());
    work += elements;
  }
  return work;
}

struct Compared {
  Tally tally;
  int graphs = 0;
};

void compare_reference(const std::string& path, Compared& all) {
  constexpr double kMostWork = 1 << 20;
  const auto task = task_formats::load_task(path, task_formats::options_of(*os::read_file(path)));
  ASSERT_TRUE(task) << task.error().message;
  const task::Dims dims = task->correctness_shapes.at(0);
  const auto graph = task->reference->trace(dims);
  ASSERT_TRUE(graph) << graph.error().message;
  if (work_of(*graph) > kMostWork) return;
  const auto inputs = inputs::draw_inputs(*task, *graph, dims, "normal", 1);
  ASSERT_TRUE(inputs) << inputs.error().message;
  EXPECT_EQ(compare_graph(*graph, *inputs, all.tally), "") << path;
  ++all.graphs;
}

class References : public testing::TestWithParam<std::string> {};

TEST_P(References, OracleAgreesOnNormalInputs) {
  Compared all;
  const std::vector<std::string> names = task_formats::cases_in(GetParam());
  for (const std::string& name : names)
    compare_reference(task_formats::case_path(GetParam(), name + ".py"), all);
  EXPECT_GT(all.graphs, static_cast<int>(names.size()) / 2);
  EXPECT_LT(all.tally.open, all.tally.elements / 20);
}

INSTANTIATE_TEST_SUITE_P(All, References, testing::Values("agree", "kernelbench"), plain_name);

}  // namespace
}  // namespace kw::mutation
