// The problem: every graph needs at least one correct kernel, also for ops that no fast schedule
// handles. The choice: reductions, scans, selections, products, scatters and folds become loops of
// the thread that needs the value. Long sums use double, because they have no tree that keeps the
// error small. The alternative, refusing such graphs, would leave tasks without a kernel. The cost:
// these loops are slow, so faster schedules come first. Schedules that need a few terms unrolled
// set Emitter::straight.
#include <fmt/core.h>

#include <limits>
#include <optional>

#include "core/text.h"
#include "emit/emitter.h"
#include "text/text.h"

namespace kw::generate {

namespace {

/// Long sums of one thread use double: they have no tree that keeps the error small.
std::string accumulator_type(DType dtype) {
  return is_floating(dtype) ? "double" : register_type(dtype);
}

/// A loop over one dim.
struct Turn {
  size_t dim = 0;
  Dim extent{1};
};

std::string narrowed(DType dtype, const std::string& name) {
  return in_float(dtype) ? fmt::format("static_cast<float>({})", name) : name;
}

/// The lowest or highest value of the dtype.
std::string extreme(DType dtype, bool lowest) {
  if (is_floating(dtype)) {
    const double infinity = std::numeric_limits<double>::infinity();
    return literal(dtype, lowest ? -infinity : infinity, 0);
  }
  if (dtype == DType::Bool) return lowest ? "false" : "true";
  const int bits = 8 * tensor::dtype_size(dtype);
  if (tensor::is_unsigned_int(dtype)) return lowest ? "0" : literal(dtype, 0, -1);
  const int64_t low = std::numeric_limits<int64_t>::min() >> (64 - bits);
  return literal(dtype, 0, lowest ? low : ~low);
}

class Serial {
 public:
  Serial(Emitter& e, NodeId id, const Index& index)
      : e_(e), node_(e.region().node(id)), index_(index) {
    for (const Dim& dim : index) level_ = std::max(level_, e.level_of(dim));
  }

  Value run() {
    switch (graph::op_info(node_.op).kind) {
      case OpKind::Reduction:
        return reduction();
      case OpKind::Scan:
        return scan();
      case OpKind::Selection:
        return selection();
      case OpKind::Contraction:
        return product();
      default:
        return node_.op == Op::Fold ? folded() : scatter();
    }
  }

 private:
  const Node& input(size_t i) const { return e_.region().node(node_.inputs[i]); }
  CudaWriter& out() { return e_.at(level_); }

  /// Adds the head of a loop over one dim and returns its variable.
  Dim loop_over(const Dim& extent, const std::string& from, const std::string& to,
                const char* wish = "k") {
    const std::string name = e_.fresh(wish);
    heads_.push_back(fmt::format("for (Index {0} = {1}; {0} < {2}; ++{0})", name, from, to));
    variables_.push_back(name);
    e_.ranges.insert_or_assign(name, extent);
    return variable(name);
  }

  /// Runs `body` in the loops opened so far; `body` may write statements into the scope it gets.
  void in_loops(const std::function<void(int)>& body) {
    const int inner = e_.open(variables_, level_, static_cast<int>(heads_.size()));
    body(inner);
    e_.nest(level_, heads_, e_.close());
    heads_.clear();
    variables_.clear();
  }

  std::string declare(const std::string& type, const char* wish, const std::string& start) {
    const std::string name = e_.fresh_variable(wish, level_);
    out().line("{} {} = {};", type, name, start);
    return name;
  }

  /// The number of iterations of these loops, if it is small and the same at all shapes.
  std::optional<int64_t> few_turns(const std::vector<Turn>& turns) const {
    int64_t count = 1;
    for (const Turn& turn : turns) {
      if (!turn.extent.is_constant()) return std::nullopt;
      if (turn.extent.value() > e_.straight) return std::nullopt;
      count *= turn.extent.value();
    }
    return count <= e_.straight ? std::optional<int64_t>(count) : std::nullopt;
  }

  /// The index at one iteration of all the loops.
  static Index at_turn(Index at, const std::vector<Turn>& turns, int64_t turn) {
    for (size_t i = turns.size(); i-- > 0;) {
      at[turns[i].dim] = Dim(turn % turns[i].extent.value());
      turn /= turns[i].extent.value();
    }
    return at;
  }

  /// Writes `step` of every term, unrolled, for sums, products, maxima and minima.
  void write_out(int64_t count, const std::function<std::string(int64_t)>& step) {
    for (int64_t turn = 0; turn < count; ++turn) {
      const std::string line = step(turn);
      out().line(line);
    }
  }

  Value reduction() {
    std::vector<Turn> turns;
    for (const int dim : node_.attrs.dims) {
      const auto d = static_cast<size_t>(dim);
      turns.push_back({d, input(0).shape[d]});
    }
    const bool places = node_.op == Op::ArgMax || node_.op == Op::ArgMin;
    if (const auto count = few_turns(turns); count && places && *count > 0) {
      return few_places(turns, *count);
    }
    if (const auto count = places ? std::nullopt : few_turns(turns)) {
      const Joint joint = joint_of(node_.op, true);
      const std::string name = declare(joint.type, joint.wish, joint.start);
      write_out(*count, [&](int64_t turn) {
        return joint.step(name,
                          e_.value(node_.inputs[0], at_turn(index_, turns, turn)).expr.operand());
      });
      return {{name}, level_};
    }
    Index at = index_;
    for (const int dim : node_.attrs.dims) {
      const Dim& extent = input(0).shape[static_cast<size_t>(dim)];
      at[static_cast<size_t>(dim)] = loop_over(extent, "0", e_.text(extent));
    }
    if (node_.op == Op::ArgMax || node_.op == Op::ArgMin) return arg_reduction(at);
    return fold(node_.op, at);
  }

  /// How terms are combined into one value.
  struct Joint {
    std::string type, start, function;  // function: "+", "*", or a call
    const char* wish;
    bool narrows;

    std::string step(const std::string& name, const std::string& x) const {
      return function.size() == 1 ? fmt::format("{} {}= {};", name, function, x)
                                  : fmt::format("{0} = {1}({0}, {2});", name, function, x);
    }
  };

  Joint joint_of(Op op, bool few) {
    const DType dtype = node_.dtype;
    const bool adds = op == Op::Sum || op == Op::CumSum;
    const bool multiplies = op == Op::Prod || op == Op::CumProd;
    if (adds || multiplies) {
      return {few ? register_type(dtype) : accumulator_type(dtype), adds ? "0" : "1",
              adds ? "+" : "*", adds ? "total" : "product", !few};
    }
    const bool logs = op == Op::CumLogSumExp;
    const bool largest = op == Op::Max || op == Op::CumMax || logs;
    const std::string function =
        logs ? "log_add_exp"
             : fmt::format("{}_{}", largest ? "max" : "min", is_floating(dtype) ? "nan" : "of");
    e_.need(function);
    return {register_type(dtype), extreme(dtype, largest), function, "best", false};
  }

  /// Sum, Prod, Max or Min of the input at `at`, over the open loops.
  Value fold(Op op, const Index& at) {
    const Joint joint = joint_of(op, false);
    const std::string name = declare(joint.type, joint.wish, joint.start);
    in_loops([&](int inner) {
      const std::string x = e_.value(node_.inputs[0], at).expr.operand();
      e_.at(inner).line(joint.step(name, x));
    });
    return {{joint.narrows ? narrowed(node_.dtype, name) : name}, level_};
  }

  /// The position of the best element; `last`: of equal elements the last one is better.
  Value best_place(const Index& at, const Dim& place, bool largest, bool last) {
    const DType dtype = input(0).dtype;
    const std::string best = declare(register_type(dtype), "best", extreme(dtype, largest));
    const std::string where = declare("long long", "best_at", "-1");
    in_loops([&](int inner) {
      Value x = e_.value(node_.inputs[0], at);
      x = e_.bound({x.expr, inner}, dtype, "candidate");
      const std::string& name = x.expr.text;
      std::string better = fmt::format("{} {} {}", name, largest ? ">" : "<", best);
      if (last) better = fmt::format("{} {}= {}", name, largest ? ">" : "<", best);
      if (is_floating(dtype)) {
        better += last ? fmt::format(" || {0} != {0}", name)
                       : fmt::format(" || ({0} != {0} && {1} == {1})", name, best);
      }
      const auto block = e_.at(inner).block("if ({} < 0 || {})", where, better);
      e_.at(inner).line("{} = {};", best, name);
      e_.at(inner).line("{} = {};", where, e_.text(place));
    });
    return {{where}, level_};
  }

  /// The position of the best of a few elements; all are named before they are compared.
  Value few_places(const std::vector<Turn>& turns, int64_t count) {
    const DType dtype = input(0).dtype;
    std::vector<std::string> terms;
    for (int64_t turn = 0; turn < count; ++turn) {
      const Value x = e_.value(node_.inputs[0], at_turn(index_, turns, turn));
      terms.push_back(e_.bound({x.expr, level_}, dtype, "candidate").expr.text);
    }
    const std::string best = declare(register_type(dtype), "best", terms[0]);
    const std::string where = declare("int", "best_at", "0");
    for (int64_t turn = 1; turn < count; ++turn) {
      const std::string& x = terms[static_cast<size_t>(turn)];
      std::string better = fmt::format("{} {} {}", x, node_.op == Op::ArgMax ? ">" : "<", best);
      if (is_floating(dtype)) better += fmt::format(" || ({0} != {0} && {1} == {1})", x, best);
      const auto block = out().block("if ({})", better);
      out().line("{} = {};", best, x);
      out().line("{} = {};", where, turn);
    }
    return {{fmt::format("static_cast<long long>({})", where)}, level_};
  }

  Value arg_reduction(const Index& at) {
    return best_place(at, at[static_cast<size_t>(node_.attrs.dims[0])], node_.op == Op::ArgMax,
                      false);
  }

  Value scan() {
    const auto along = static_cast<size_t>(node_.attrs.dims[0]);
    const Dim& extent = node_.shape[along];
    const std::string here = e_.text(index_[along]);
    const char* beyond = node_.attrs.exclusive ? "" : " + 1";
    Index at = index_;
    if (node_.attrs.reverse) {
      at[along] = loop_over(extent, here + (node_.attrs.exclusive ? " + 1" : ""), e_.text(extent));
    } else {
      at[along] = loop_over(extent, "0", here + beyond);
    }
    const bool index = node_.op == Op::CumMaxIndex || node_.op == Op::CumMinIndex;
    if (index) return best_place(at, at[along], node_.op == Op::CumMaxIndex, true);
    return fold(node_.op, at);
  }

  /// Searches all elements for the one with the right number of elements before it.
  Value selection() {
    const auto along = static_cast<size_t>(node_.attrs.dims[0]);
    const bool values = node_.op == Op::SortValues || node_.op == Op::TopKValues;
    const Dim& extent = input(0).shape[along];
    const DType dtype = input(0).dtype;
    const std::string result = declare(register_type(node_.dtype), "ranked", "0");
    Index at = index_;
    at[along] = loop_over(extent, "0", e_.text(extent));
    in_loops([&](int inner) {
      Value x = e_.value(node_.inputs[0], at);
      x = e_.bound({x.expr, inner}, dtype, "candidate");
      const std::string rank = serial_rank(e_, inner, node_, node_.inputs[0], at, x.expr.text);
      const std::string give = values ? x.expr.text : e_.text(at[along]);
      e_.at(inner).line("if ({} == {}) {} = {};", rank, e_.text(index_[along]), result, give);
    });
    return {{result}, level_};
  }

  Value product() {
    const size_t rank = index_.size();
    const Dim& extent = input(0).shape[rank - 1];
    if (const auto count = few_turns({{rank - 1, extent}})) return short_product(*count);
    if (const int64_t taps = inner_terms(); taps > 1) return product_of_taps(extent, taps);
    const Dim k = loop_over(extent, "0", e_.text(extent));
    Index left = index_, right = index_;
    left[rank - 1] = k;
    right[rank - 2] = k;
    const std::string type = accumulator_type(node_.dtype);
    const std::string name = declare(type, "dot", "0");
    in_loops([&](int inner) {
      const std::string a = e_.value(node_.inputs[0], left).expr.operand();
      const std::string b = e_.value(node_.inputs[1], right).expr.operand();
      e_.at(inner).line("{} += static_cast<{}>({}) * {};", name, type, a, b);
    });
    return {{narrowed(node_.dtype, name)}, level_};
  }

  /// The number of terms in an operand's innermost dims of k, if it is small and the same at all
  /// shapes.
  int64_t inner_terms() const {
    if (e_.straight == 0) return 0;
    for (const size_t side : {size_t{1}, size_t{0}}) {
      const Node& operand = input(side);
      if (operand.op != Op::Reshape || e_.region().loads.count(node_.inputs[side]) > 0) continue;
      const size_t k = operand.shape.size() - (side == 1 ? 2 : 1);
      const Shape& before = e_.region().node(operand.inputs[0]).shape;
      for (const Group& group : groups_of(operand.shape, before)) {
        if (group.from_begin != k || group.from_end != k + 1) continue;
        int64_t taps = 1;
        for (size_t d = group.to_end; d-- > group.to_begin + 1;) {
          if (!before[d].is_constant() || taps * before[d].value() > e_.straight) break;
          taps *= before[d].value();
        }
        if (taps > 1) return taps;
      }
    }
    return 0;
  }

  /// Unrolled sums of a few terms, in a loop over all of them.
  Value product_of_taps(const Dim& extent, int64_t taps) {
    const std::string type = accumulator_type(node_.dtype);
    const std::string name = declare(type, "dot", "0");
    const Dim count = floor_div(extent, Dim(taps));
    const Dim k = loop_over(count, "0", e_.text(count));
    in_loops([&](int inner) {
      const std::string part = e_.fresh_variable("part", inner);
      e_.at(inner).line("{} {} = 0;", register_type(node_.dtype), part);
      for (int64_t tap = 0; tap < taps; ++tap) {
        Index left = index_, right = index_;
        left[index_.size() - 1] = right[index_.size() - 2] = k * Dim(taps) + Dim(tap);
        const std::string a = e_.value(node_.inputs[0], left).expr.operand();
        const std::string b = e_.value(node_.inputs[1], right).expr.operand();
        e_.at(inner).line("{} += {} * {};", part, a, b);
      }
      e_.at(inner).line("{} += {};", name, part);
    });
    return {{narrowed(node_.dtype, name)}, level_};
  }

  Value short_product(int64_t count) {
    const std::string name = declare(register_type(node_.dtype), "dot", "0");
    write_out(count, [&](int64_t turn) {
      Index left = index_, right = index_;
      left[index_.size() - 1] = right[index_.size() - 2] = Dim(turn);
      const std::string a = e_.value(node_.inputs[0], left).expr.operand();
      const std::string b = e_.value(node_.inputs[1], right).expr.operand();
      return fmt::format("{} += {} * {};", name, a, b);
    });
    return {{name}, level_};
  }

  /// The sum over all windows of the element that lies here, if a window starts at the right
  /// distance before it.
  Value folded() {
    const Dim& extent = input(0).shape.back();
    if (const auto count = few_turns({{index_.size(), extent}})) {
      const std::string name = declare(register_type(node_.dtype), "total", "0");
      write_out(*count, [&](int64_t turn) {
        return fmt::format("{} += {};", name, window_element(Dim(turn), level_).expr.operand());
      });
      return {{name}, level_};
    }
    const Dim k = loop_over(extent, "0", e_.text(extent));
    const std::string name = declare(accumulator_type(node_.dtype), "total", "0");
    in_loops([&](int inner) {
      const std::string x = window_element(k, inner).expr.operand();
      e_.at(inner).line("{} += {};", name, x);
    });
    return {{narrowed(node_.dtype, name)}, level_};
  }

  Value window_element(const Dim& k, int level) {
    const auto along = static_cast<size_t>(node_.attrs.dims[0]);
    const int64_t stride = node_.attrs.steps[0];
    const Dim& count = input(0).shape[along];
    const Dim before = index_[along] - k * Dim(node_.attrs.steps[1]);
    Index at = index_;
    at.push_back(k);
    at[along] = before;
    std::vector<std::string> tests;
    if (!never_negative(before)) tests.push_back(fmt::format("{} >= 0", e_.text(before)));
    if (stride > 1) {
      tests.push_back(fmt::format("({}) % {} == 0", e_.text(before), stride));
      const std::string window =
          e_.named(level, "Index", "window", fmt::format("({}) / {}", e_.text(before), stride));
      e_.ranges.insert_or_assign(window, count);
      at[along] = variable(window);
    }
    if (stride > 1 || !surely_below(before, count, e_.ranges)) {
      tests.push_back(fmt::format("{} < {}", e_.text(at[along]), e_.text(count)));
    }
    if (tests.empty()) return e_.value(node_.inputs[0], at);
    const auto inner =
        e_.under(join(tests, " && "), level, [&] { return e_.value(node_.inputs[0], at); });
    return inner.or_else({{literal(node_.dtype, 0, 0)}, 0});
  }

  Value scatter() {
    const auto along = static_cast<size_t>(node_.attrs.dims[0]);
    const Value base = e_.value(node_.inputs[0], index_);
    level_ = std::max(level_, base.level);
    const bool adds = node_.attrs.scatter == graph::ScatterMode::Add;
    const std::string type =
        adds ? accumulator_type(node_.dtype) : std::string(register_type(node_.dtype));
    const std::string name = declare(type, "place", base.expr.text);
    std::vector<std::string> tests;
    for (size_t d = 0; d < index_.size(); ++d) {
      const Dim& extent = input(1).shape[d];
      if (d == along || extent.same_text(node_.shape[d])) continue;
      tests.push_back(fmt::format("{} < {}", e_.text(index_[d]), e_.text(extent)));
    }
    const std::string end = e_.text(input(1).shape[along]);
    Index at = index_;
    at[along] =
        loop_over(input(1).shape[along], "0",
                  tests.empty() ? end : fmt::format("({} ? {} : 0)", join(tests, " && "), end));
    in_loops([&](int inner) {
      const std::string to = e_.value(node_.inputs[1], at).expr.operand();
      const std::string here = e_.text(index_[along]);
      const int deepest = e_.open({}, inner);
      const std::string x = e_.value(node_.inputs[2], at).expr.operand();
      e_.at(inner).line("");
      e_.at(deepest).line(combined(name, x));
      e_.nest(inner, {fmt::format("if ({} == {})", to, here)}, e_.close());
    });
    return {{adds ? narrowed(node_.dtype, name) : name}, level_};
  }

  std::string combined(const std::string& name, const std::string& x) {
    switch (node_.attrs.scatter) {
      case graph::ScatterMode::Set:
        return fmt::format("{} = {};", name, x);
      case graph::ScatterMode::Add:
        return fmt::format("{} += {};", name, x);
      case graph::ScatterMode::Multiply:
        return fmt::format("{} *= {};", name, x);
      default:
        break;
    }
    const std::string function =
        fmt::format("{}_{}", node_.attrs.scatter == graph::ScatterMode::Max ? "max" : "min",
                    is_floating(node_.dtype) ? "nan" : "of");
    e_.need(function);
    return fmt::format("{0} = {1}({0}, {2});", name, function, x);
  }

  Emitter& e_;
  const Node& node_;
  const Index& index_;
  int level_ = 0;
  std::vector<std::string> heads_, variables_;
};

}  // namespace

std::string serial_rank(Emitter& e, int level, const Node& node, NodeId input, const Index& at,
                        const std::string& candidate) {
  const auto along = static_cast<size_t>(node.attrs.dims[0]);
  const Dim& extent = e.region().node(input).shape[along];
  const DType dtype = e.region().node(input).dtype;
  const std::string rank = e.fresh_variable("rank", level), other = e.fresh("j");
  e.at(level).line("Index {} = 0;", rank);
  const std::string head =
      fmt::format("for (Index {0} = 0; {0} < {1}; ++{0})", other, e.text(extent));
  e.ranges.insert_or_assign(other, extent);
  const int inner = e.open({other}, level);
  Index there = at;
  there[along] = variable(other);
  Value x = e.value(input, there);
  x = e.bound({x.expr, inner}, dtype, "rival");
  const std::string function = node.attrs.descending ? "ranks_above" : "ranks_below";
  e.need(function);
  e.at(inner).line("{} += {}({}, {}, {} < {}) ? 1 : 0;", rank, function, x.expr.text, candidate,
                   other, e.text(at[along]));
  e.nest(level, {head}, e.close());
  return rank;
}

Value serial_value(Emitter& e, NodeId node, const Index& index) {
  return Serial(e, node, index).run();
}

}  // namespace kw::generate
