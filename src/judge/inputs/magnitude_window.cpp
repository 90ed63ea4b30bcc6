// The problem: kernels that clip or convert large values are right for ordinary inputs, but inputs
// that overflow the formula judge nothing. The widest useful window depends on the task. We follow
// the graph with the binary logarithms of the smallest and the largest magnitude of each node, and
// take the widest window for which every node stays within its type.
// The alternative is to run the oracle at several windows. It is more accurate, but the window must
// be a function of the graph alone: a repro command draws the same inputs at one shape. Kernels
// may square what the formula only multiplies, so the window of a formula with products is narrow.
// Formulas that only choose, compare and scale by constants get the whole type, those that add
// almost all; where numbers are multiplied, one input has a wide window while the others are
// ordinary. The cost: the estimate is pessimistic for deep networks, whose window may hold ordinary
// values only.
#include "inputs/magnitude_window.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "core/contains.h"

namespace kw::inputs {

namespace {

using graph::Node;
using graph::NodeId;
using graph::Op;
using tensor::DType;

constexpr int kWidest = 96;           // exponents of fp32 end at 127
constexpr int kWholeFp32 = 127, kWholeFp64 = 1023;
constexpr int kRoundedFp64 = 170;     // the errors of a truth are fp32: 2^-53 of it fits there
constexpr double kSumLimit = 124;     // of formulas that add; kernels may scale their terms
constexpr int kSingleLow = -100;      // splits into tf32 or bf16 leave terms 2^-22 times smaller
constexpr int kWithProducts = 24;     // beyond 1e7; fourth powers stay within fp32
constexpr double kFloatLimit = 100;   // leaves room for sums that kernels order differently
constexpr double kCancellation = 24;  // bits that a difference may lose
constexpr double kLog2E = 1.4426950408889634;
// Kernels scale the argument of exp() for the hardware's exp2(); beyond this size the rounding of
// that product is the whole result. Spikes have the same size.
constexpr double kArgument = 18;
constexpr int kOrdinary = 3;  // 2^3: ordinary values end there
constexpr int kMostShift = 12, kLeastWidth = 4;

/// Exponents of the normal numbers of a type, with some room; all of them; the largest number.
struct TypeLimits {
  DType type;
  int low, high;
  int least, most;
  double largest;
};
constexpr TypeLimits kTypeLimits[] = {
    {DType::Fp64, -900, 900, -1022, 1023, 0x1.fffffffffffffp1023},
    {DType::Fp32, -100, 100, -126, 127, 0x1.fffffep127},
    {DType::Bf16, -100, 100, -126, 127, 0x1.fep127},
    {DType::Fp16, -13, 14, -14, 15, 65504},
    {DType::Fp8e5m2, -13, 14, -14, 15, 57344},
    {DType::Fp8e4m3, -5, 7, -6, 8, 448},
};

TypeLimits type_limits(DType type) {
  const auto row = std::ranges::find(kTypeLimits, type, &TypeLimits::type);
  return row != std::end(kTypeLimits) ? *row : TypeLimits{type, 0, 2, 0, 2, 6};
}

/// What a formula does with its numbers; each does what those before it do.
enum class Arithmetic : uint8_t { Copies, Scales, Adds, Multiplies, Other };

bool is_constant(const graph::Graph& graph, NodeId id) {
  while (graph[id].op == Op::Expand || graph[id].op == Op::Reshape || graph[id].op == Op::Cast)
    id = graph[id].inputs[0];
  return graph[id].op == Op::Constant;
}

Arithmetic arithmetic_of(const graph::Graph& graph, const Node& node) {
  const bool floats = std::ranges::any_of(
      node.inputs, [&](NodeId id) { return tensor::is_float(graph[id].dtype); });
  if (!floats || graph::between(node.op, Op::Maximum, Op::Ge)) return Arithmetic::Copies;
  switch (node.op) {
    case Op::Cast:
    case Op::Where:
    case Op::Neg:
    case Op::Abs:
    case Op::Max:
    case Op::Min:
    case Op::ArgMax:
    case Op::ArgMin:
    case Op::CumMax:
    case Op::CumMin:
    case Op::CumMaxIndex:
    case Op::CumMinIndex:
    case Op::Concat:
    case Op::Gather:
    case Op::IndexSelect:
      return Arithmetic::Copies;
    case Op::Add:
    case Op::Sub:
    case Op::Sum:
    case Op::CumSum:
      return Arithmetic::Adds;
    case Op::Mul: {
      const bool scales = is_constant(graph, node.inputs[0]) || is_constant(graph, node.inputs[1]);
      return scales ? Arithmetic::Scales : Arithmetic::Multiplies;
    }
    default:
      break;
  }
  switch (graph::op_info(node.op).kind) {
    case graph::OpKind::Source:
    case graph::OpKind::Movement:
    case graph::OpKind::Selection:
      return Arithmetic::Copies;
    case graph::OpKind::Contraction:
      return Arithmetic::Multiplies;
    default:
      return Arithmetic::Other;
  }
}

Arithmetic arithmetic_of(const graph::Graph& graph) {
  Arithmetic most = Arithmetic::Copies;
  for (const Node& node : graph.nodes) most = std::max(most, arithmetic_of(graph, node));
  return most;
}

/// Binary logarithms of the magnitudes of a node, and what is known of its sign.
struct Magnitude {
  double low = 0, top = 0;
  bool never_negative = false, never_positive = false;
  bool reaches_one = false;  // some element of every row is 1: exp(x - max(x))
};

double log2_of(double value) { return value == 0 ? 0 : std::log2(std::fabs(value)); }

double extent_of(const Node& input, const Node& node) {
  double before = 1, after = 1;
  for (const graph::Dim& dim : input.shape) before *= static_cast<double>(dim.value());
  for (const graph::Dim& dim : node.shape) after *= static_cast<double>(dim.value());
  return std::max(1.0, after > 0 ? before / after : 1);
}

class MagnitudePass {
 public:
  MagnitudePass(const task::Task& task, const graph::Graph& graph)
      : task_(task), graph_(graph), at_(graph.nodes.size()) {}

  /// Whether every node stays within its type when inputs lie in this window. `limit`: of fp32;
  /// above the one that leaves room, up to the end of the type. `single`: only this input does, the
  /// others are ordinary.
  bool holds(const MagnitudeWindow& window, double limit = kFloatLimit,
             std::optional<size_t> single = {}) {
    window_ = window;
    single_ = single;
    whole_ = limit > kFloatLimit;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      at_[i] = of(node);
      if (scales_its_argument(node.op) && operand(node, 0).top > kArgument) return false;
      if (tensor::is_float(node.dtype)) {
        const TypeLimits of_type = type_limits(node.dtype);
        const double room = whole_ ? of_type.most + 1 - (kWholeFp32 + 1 - limit)
                                   : std::min<double>(kFloatLimit * 9, of_type.high + 1);
        if (node.op != Op::Input && node.op != Op::Constant && !(at_[i].top <= room)) return false;
      } else if (node.op == Op::Cast && tensor::is_float(graph_[node.inputs[0]].dtype) &&
                 node.dtype != DType::Bool) {
        if (at_[i].top > tensor::dtype_size(node.dtype) * 8 - 2) return false;
      }
    }
    return true;
  }

 private:
  static bool scales_its_argument(Op op) {
    switch (op) {
#define KW_OP(op, name, kind, inputs, ...) \
  case Op::op:                             \
    __VA_ARGS__ break;
#define KW_POINTWISE(op, name, inputs, ...) KW_OP(op, name, Pointwise, inputs, __VA_ARGS__)
#define SCALES_ARGUMENT return true;
#include "ops/table.def"
    }
    return false;
  }

  const Magnitude& operand(const Node& node, size_t i) const {
    return at_[static_cast<size_t>(node.inputs[i])];
  }

  Magnitude of(const Node& node) const {
    switch (graph::op_info(node.op).kind) {
      case graph::OpKind::Source:
        return source(node);
      case graph::OpKind::Pointwise:
        return pointwise(node);
      case graph::OpKind::Contraction: {
        const Magnitude &x = operand(node, 0), &z = operand(node, 1);
        const Node& left = graph_[node.inputs[0]];
        const double terms = static_cast<double>(left.shape.back().value());
        return sum(product(x, z), terms);
      }
      default:
        return gathered(node);
    }
  }

  Magnitude source(const Node& node) const {
    if (node.op == Op::Iota) return {0, 20, true, false, false};
    if (node.op == Op::Philox) return {-24, 0, true, false, false};
    if (node.op == Op::Constant) {
      const double value = tensor::is_float(node.dtype) ? node.attrs.number
                                                        : static_cast<double>(node.attrs.integer);
      if (!std::isfinite(value)) return {0, 0, value > 0, value < 0, false};  // a mask
      const double size = log2_of(value);
      return {size, size, value >= 0, value <= 0, false};
    }
    return input(node);
  }

  Magnitude input(const Node& node) const {
    if (!tensor::is_float(node.dtype)) return {0, 7, tensor::is_unsigned_int(node.dtype)};
    MagnitudeWindow own = limited({window_.low, window_.high, whole_}, node.dtype);
    if (single_ && &graph_[graph_.inputs[*single_].node] != &node)
      own = {-kOrdinary, kOrdinary - 1, false};
    Magnitude at{static_cast<double>(own.low), own.high + 1.0};
    for (const graph::NamedNode& named : graph_.inputs) {
      if (&graph_[named.node] != &node) continue;
      const task::TensorSpec* spec = task_.find_input(named.name);
      if (spec == nullptr) break;
      const task::Legal& legal = spec->legal;
      at.never_negative = legal.positive || legal.float_low.value_or(-1) >= 0;
      if (legal.float_low && legal.float_high)
        at.top = std::min(
            at.top, log2_of(std::max(std::fabs(*legal.float_low), std::fabs(*legal.float_high))));
    }
    return at;
  }

  static Magnitude product(const Magnitude& x, const Magnitude& z) {
    const bool same =
        (x.never_negative && z.never_negative) || (x.never_positive && z.never_positive);
    const bool other =
        (x.never_negative && z.never_positive) || (x.never_positive && z.never_negative);
    return {x.low + z.low, x.top + z.top, same, other, false};
  }

  static Magnitude sum(const Magnitude& x, double terms) {
    Magnitude y = x;
    y.top += std::log2(std::max(terms, 1.0));
    y.reaches_one = false;
    if (x.reaches_one)
      y.low = 0;
    else if (!x.never_negative && !x.never_positive)
      y.low -= kCancellation;
    return y;
  }

  static Magnitude inverse(const Magnitude& x) {
    return {-x.top, -x.low, x.never_negative, x.never_positive, false};
  }

  static Magnitude powered(const Magnitude& x, double exponent) {
    const double low = x.low * exponent, top = x.top * exponent;
    const bool even = std::fmod(exponent, 2) == 0;
    return {std::min(low, top), std::max(low, top), even || x.never_negative, false, false};
  }

  Magnitude added(const Node& node) const {
    Magnitude x = operand(node, 0), z = operand(node, 1);
    if (node.op == Op::Sub) std::swap(z.never_negative, z.never_positive);
    Magnitude y{0, std::max(x.top, z.top) + 1, x.never_negative && z.never_negative,
                x.never_positive && z.never_positive, false};
    const bool grows = y.never_negative || y.never_positive;
    y.low = grows ? std::max(x.low, z.low) : std::min(x.low, z.low) - kCancellation;
    if (node.op == Op::Sub && is_maximum_of(node.inputs[1], node.inputs[0])) {
      y.never_positive = true;
      y.reaches_one = true;  // its exp() does
    }
    return y;
  }

  // Whether one node is the maximum of the other along some dims.
  bool is_maximum_of(NodeId maximum, NodeId of) const {
    const auto moved = [this](NodeId id) {
      while (graph_[id].op == Op::Expand || graph_[id].op == Op::Reshape ||
             graph_[id].op == Op::Cast)
        id = graph_[id].inputs[0];
      return id;
    };
    const Node& node = graph_[moved(maximum)];
    return node.op == Op::Max && moved(node.inputs[0]) == moved(of);
  }

  static Magnitude exponential(const Magnitude& x, double factor) {
    const double reach = factor * std::exp2(std::min(x.top, 20.0));
    return {x.never_negative ? 0 : -reach, x.never_positive ? 0 : reach, true, false,
            x.reaches_one};
  }

  static Magnitude negated(const Magnitude& x) {
    return {x.low, x.top, x.never_positive, x.never_negative, false};
  }

  static Magnitude absolute(const Magnitude& x) { return {x.low, x.top, true, false, false}; }

  Magnitude multiplied(const Node& node) const {
    if (node.inputs[0] == node.inputs[1]) return powered(operand(node, 0), 2);
    return product(operand(node, 0), operand(node, 1));
  }

  static Magnitude bounded() { return {-kCancellation, 2}; }
  static Magnitude probability() { return {-kFloatLimit, 1, true}; }
  static Magnitude logarithm() { return {-kCancellation, 9}; }
  static Magnitude with_poles(const Magnitude& x) { return {-kCancellation, x.top + 8}; }

  static Magnitude either(const Magnitude& x, const Magnitude& z) {
    return {std::min(x.low, z.low), std::max(x.top, z.top), x.never_negative && z.never_negative,
            x.never_positive && z.never_positive, x.reaches_one && z.reaches_one};
  }

  // At least one operand of a maximum that is never negative makes the result so.
  static Magnitude larger(const Magnitude& x, const Magnitude& z) {
    Magnitude y = either(x, z);
    y.never_negative = x.never_negative || z.never_negative;
    if (y.never_negative) y.low = std::max(x.low, z.low);
    return y;
  }

  // Functions of several operands without a rule choose between them.
  Magnitude pointwise(const Node& node) const {
    const Magnitude &x = operand(node, 0), &z = operand(node, node.inputs.size() > 1 ? 1 : 0);
    switch (node.op) {
#define KW_POINTWISE(op, name, inputs, ...) \
  case Op::op:                              \
    __VA_ARGS__ break;
#define MAGNITUDE(...) return __VA_ARGS__;
#include "ops/table.def"
      default:
        break;
    }
    return largest(node);
  }

  Magnitude power(const Node& node) const {
    const Node* exponent = &graph_[node.inputs[1]];
    while (exponent->op == Op::Expand || exponent->op == Op::Reshape || exponent->op == Op::Cast)
      exponent = &graph_[exponent->inputs[0]];
    const Magnitude& x = operand(node, 0);
    if (exponent->op == Op::Constant) {
      return powered(x, tensor::is_float(exponent->dtype)
                            ? exponent->attrs.number
                            : static_cast<double>(exponent->attrs.integer));
    }
    const double reach = std::max(std::fabs(x.low), std::fabs(x.top)) *
                         std::exp2(std::min(operand(node, 1).top, 20.0));
    return {-reach, reach, x.never_negative, false, false};
  }

  Magnitude largest(const Node& node) const {
    Magnitude y = node.inputs.empty() ? Magnitude{} : operand(node, 0);
    for (size_t i = 1; i < node.inputs.size(); ++i) y = either(y, operand(node, i));
    return y;
  }

  // Reductions, scans, selections, movement.
  Magnitude gathered(const Node& node) const {
    const Node& from = graph_[node.inputs[0]];
    const Magnitude& x = operand(node, 0);
    switch (node.op) {
      case Op::Sum:
        return sum(x, extent_of(from, node));
      case Op::Prod:
        return powered(x, extent_of(from, node));
      case Op::CumSum:
      case Op::CumProd: {
        const double extent =
            static_cast<double>(node.shape[static_cast<size_t>(node.attrs.dims[0])].value());
        return node.op == Op::CumSum ? sum(x, extent) : powered(x, std::max(1.0, extent));
      }
      case Op::CumLogSumExp:
        return {-kCancellation, x.top + 1};
      case Op::Fold:
        return sum(x, extent_of(from, node));
      case Op::Scatter:
        return sum(largest(node), extent_of(graph_[node.inputs[2]], node) * 16);
      case Op::Gather:
      case Op::IndexSelect:
        return x;
      case Op::ArgMax:
      case Op::ArgMin:
      case Op::SortIndices:
      case Op::TopKIndices:
      case Op::CumMaxIndex:
      case Op::CumMinIndex:
        return {0, 20, true};
      default:
        return largest(node);
    }
  }

  const task::Task& task_;
  const graph::Graph& graph_;
  std::vector<Magnitude> at_;
  MagnitudeWindow window_;
  bool whole_ = false;
  std::optional<size_t> single_;
};

/// The largest number of low … high for which something holds that holds below it, too; `low`
/// without a question.
template <typename Holds>
int widest_that(int low, int high, const Holds& holds) {
  while (low < high) {
    const int middle = low + (high - low + 1) / 2;
    if (holds(middle))
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

MagnitudeWindow around(int window) { return {-window, window, false}; }

/// A window beside the ordinary one, where a formula such as 30000 x or 30000 / x overflows in it.
std::optional<MagnitudeWindow> beside_ordinary(MagnitudePass& pass) {
  for (int shift = 1; shift <= kMostShift; ++shift) {
    const MagnitudeWindow lower{std::min(-kOrdinary, kOrdinary - shift - kLeastWidth),
                                kOrdinary - shift, false};
    if (pass.holds(lower)) return lower;
    const MagnitudeWindow upper{-lower.high, -lower.low, false};
    if (pass.holds(upper)) return upper;
  }
  return std::nullopt;
}

MagnitudeWindow widest_window(const graph::Graph& graph, Arithmetic arithmetic, bool flush) {
  const bool doubles =
      std::ranges::any_of(graph.nodes, [](const Node& node) { return node.dtype == DType::Fp64; });
  const bool copies = arithmetic == Arithmetic::Copies;
  const int high = !doubles ? kWholeFp32 : copies ? kWholeFp64 : kRoundedFp64;
  // What is added may cancel to numbers below the normal ones, where some hardware gives zero.
  const bool exact = copies || (arithmetic == Arithmetic::Scales && !doubles);
  return {exact && !flush ? -high : -kWidest, high, true};
}

}  // namespace

MagnitudeWindow limited(const MagnitudeWindow& window, DType type) {
  const TypeLimits limits = type_limits(type);
  const int low = window.whole ? limits.least : limits.low;
  const int high = window.whole ? limits.most : limits.high;
  return {std::clamp(window.low, low, high), std::clamp(window.high, low, high), window.whole};
}

double largest_finite(DType type) { return type_limits(type).largest; }

MagnitudeWindow magnitude_window(const task::Task& task, const graph::Graph& graph) {
  MagnitudePass pass(task, graph);
  const Arithmetic arithmetic = arithmetic_of(graph);
  if (arithmetic <= Arithmetic::Adds) {
    MagnitudeWindow wide = widest_window(graph, arithmetic, task.precision.flush);
    const double limit = arithmetic == Arithmetic::Adds ? kSumLimit : kWholeFp32 + 1;
    wide.high =
        widest_that(kWidest, wide.high, [&](int one) { return pass.holds(around(one), limit); });
    if (wide.high > kWidest) return wide;
  }
  int window = kWidest;
  if (!pass.holds(around(window))) window = kWithProducts;
  while (window > kOrdinary && !pass.holds(around(window))) --window;
  if (window > kOrdinary || pass.holds(around(window))) return around(window);
  return beside_ordinary(pass).value_or(around(window));
}

std::vector<std::optional<MagnitudeWindow>> single_windows(const task::Task& task,
                                                           const graph::Graph& graph) {
  std::vector<std::optional<MagnitudeWindow>> windows(graph.inputs.size());
  if (arithmetic_of(graph) != Arithmetic::Multiplies) return windows;
  MagnitudePass pass(task, graph);
  for (size_t i = 0; i < windows.size(); ++i) {
    if (!tensor::is_float(graph[graph.inputs[i].node].dtype)) continue;
    const int window = widest_that(kWithProducts, kWholeFp32, [&](int one) {
      return pass.holds(around(one), kSumLimit, i);
    });
    if (window > kWithProducts)
      windows[i] = MagnitudeWindow{std::max(-window, kSingleLow), window, false};
  }
  return windows;
}

}  // namespace kw::inputs
