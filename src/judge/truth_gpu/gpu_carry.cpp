// The problem: near a discontinuity, a small error in an operand may change the result by a whole
// step. The interpreter carries such jumps as intervals through every op; the device must do the
// same. We write one call per instruction, chosen by the op table's `between` entry, so both follow
// the same rules. The alternative, all rules in one generic device function, would branch per
// element at run time. The cost: an op without a rule here sets a flag, and the whole truth falls
// back to the interpreter.
#include "truth_gpu/gpu_carry.h"

#include <fmt/core.h>

#include <algorithm>

#include "ops/op_groups.h"
#include "truth/jump_rules.h"
#include "truth_gpu/gpu_source.h"

namespace kw::truth_gpu {

using graph::Op;
using tensor::DType;

namespace {

// The struct of a pointwise op on devices.
const char* table_function(Op op) {
  const char* function = nullptr;
  switch (op) {
#define KW_POINTWISE(op, name, inputs, ...) \
  case Op::op:                              \
    function = #op;                         \
    __VA_ARGS__ break;
#define HOST_ONLY function = nullptr;
#include "ops/table.def"
    default:
      break;
  }
  return function;
}

}  // namespace

const char* smooth_function(Op op) {
  return ops::between(op, Op::Sqrt, Op::Sigmoid) ? table_function(op) : nullptr;
}

const char* step_function(Op op) {
  const graph::OpInfo& info = graph::op_info(op);
  return info.discontinuous && info.inputs == 1 ? table_function(op) : nullptr;
}

const char* comparison_text(Op op) {
  switch (op) {
#define KW_COMPARE(op, name, sign) \
  case Op::op:                     \
    return #sign;
#include "ops/table.def"
    default:
      return nullptr;
  }
}

namespace {

class JumpWriter {
 public:
  JumpWriter(const truth::Instruction& code, const PointText& text) : code_(code), t_(text) {}

  JumpText run(const std::string& name) const {
    const auto defined = [&](const std::string& jump) {
      return fmt::format("    const Jump {} = {};\n", name, jump);
    };
    const std::string own = begins();
    const bool given =
        std::ranges::any_of(t_.jump, [](const std::string& j) { return !j.empty(); });
    if (!given) return own.empty() ? JumpText{} : JumpText{defined(own), true};
    const std::string own_name = own.empty() ? "Jump{0, 0}" : "own_" + name;
    const std::string carried = carry(own_name), here = any_jumps();
    const double scale = truth::jump_scale(code_.spec.rounding, code_.spec.errors);
    if (!carried.empty()) {
      std::string lines =
          own.empty() ? "" : fmt::format("    const Jump {} = {};\n", own_name, own);
      lines += joined_errors(here);
      return {lines + defined(fmt::format("{} ? carried({}, {}, found) : {}", here, carried,
                                          number_text(scale), own_name)),
              true};
    }
    std::string lines;
    for (const std::string& jump : t_.jump) {
      if (!jump.empty()) lines += fmt::format("    if (jumps({})) found |= kJumps;\n", jump);
    }
    if (!own.empty()) lines += defined(own);
    return {lines, !own.empty()};
  }

 private:
  Op op() const { return code_.spec.op; }
  bool integer(int k) const { return code_.in_tracks[k].integer; }
  bool tracked(int k) const { return code_.in_tracks[k].a || code_.in_tracks[k].h; }
  bool to_bool() const { return code_.spec.to == DType::Bool; }

  // The operand's value as a double, its jump, and the result's value as a double.
  std::string value(int k) const { return integer(k) ? "(double)" + t_.in[k] : t_.in[k] + ".t"; }
  std::string jump(int k) const { return t_.jump[k].empty() ? "Jump{0, 0}" : t_.jump[k]; }
  std::string result() const {
    return code_.tracks.integer ? "(double)" + t_.result : t_.result + ".t";
  }

  // Returns "" when the op itself has no discontinuity within its operands' errors.
  std::string begins() const {
    const std::string& x = t_.in[0];
    if (integer(0) || !(tracked(0) || (comparison_text(op()) != nullptr && tracked(1)))) return "";
    if (comparison_text(op()) != nullptr)
      return fmt::format("flipped({0} != 0, may_flip({1}.t, {2}.t, reach({1}) + reach({2}), {3}))",
                         t_.result, x, t_.in[1], code_.spec.same);
    const auto stepped = [&](const std::string& f) {
      return fmt::format(
          "stepped({0}.t, reach({0}), {1}, [](double v) -> double {{ return {2}; }})", x, to_bool(),
          f);
    };
    if (const char* f = step_function(op())) return stepped(fmt::format("{}::at(v)", f));
    if (code_.spec.snaps) return stepped(snapped());
    if (!code_.tracks.integer) return "";
    if (op() == Op::Not)
      return fmt::format("flipped({} != 0, may_be_zero({}.t, reach({})))", t_.result, x, x);
    if (op() == Op::IsNan || op() == Op::IsInf)
      return fmt::format("flipped({} != 0, reach({}) == infinity())", t_.result, x);
    if (op() != Op::Cast) return "";
    return stepped(to_bool() ? "v != 0 ? 1 : 0" : "Trunc::at(v)");
  }

  std::string any_jumps() const {
    std::string here;
    for (const std::string& jump : t_.jump) {
      if (!jump.empty()) here += (here.empty() ? "jumps(" : " || jumps(") + jump + ")";
    }
    return here;
  }

  // Returns a Jump that combines the op's own and its operands'; "" when there is no rule.
  std::string carry(const std::string& own) const {
    if (op() == Op::Where)
      return fmt::format(
          "carry_select(jumps({1}), {0} ? {2} : {4}, {0} ? {3} : {5}, {0} ? {4} : {2}, "
          "{0} ? {5} : {3})",
          t_.in[0], jump(0), value(1), jump(1), value(2), jump(2));
    if (comparison_text(op()) != nullptr) return comparison(own);
    if (code_.tracks.integer) return to_integer(own);
    if (const char* f = step_function(op()))
      return one(own, op() == Op::Sign ? jump(0) : reached_jump(), fmt::format("{}::at(v)", f));
    return to_float(own);
  }

  // `f`: an expression of v, or of v and w. It may say what lies between the ends, or the op does.
  std::string one(const std::string& own, const std::string& ends, const std::string& f,
                  ops::Between between = ops::Between::ByEnds) const {
    return fmt::format(
        "carry(Between({}), {}, {}, {}, {}, [](double v) -> double {{ return {}; }})",
        static_cast<int>(between), own, result(), value(0), ends, f);
  }
  std::string two(const std::string& own, const std::string& f,
                  ops::Between between = ops::Between::ByEnds) const {
    return fmt::format(
        "carry(Between({}), {}, {}, {}, {}, {}, {}, {}, "
        "[](double v, double w) -> double {{ return {}; }})",
        static_cast<int>(between), own, result(), value(0), jump(0), value(1), jump(1),
        code_.spec.same, f);
  }

  std::string comparison(const std::string& own) const {
    const std::string close = integer(0) && integer(1)
                                  ? fmt::format("one_apart({}) && one_apart({})", jump(0), jump(1))
                                  : "false";
    return fmt::format(
        "carry_comparison({}, {}, {}, {}, {}, {}, {}, {}, {}, "
        "[](double v, double w) -> double {{ return v {} w ? 1 : 0; }})",
        op() == Op::Eq || op() == Op::Ne, close, own, result(), value(0), jump(0), value(1),
        jump(1), code_.spec.same, comparison_text(op()));
  }

  std::string to_float(const std::string& own) const {
    if (code_.spec.snaps) return one(own, reached_jump(), snapped());
    const ops::Between between = graph::op_info(op()).between;
    const std::string f = table_function(op()) == nullptr ? "" : table_function(op());
    switch (op()) {
      case Op::Add:
      case Op::Sub:
      case Op::Mul:
      case Op::Div:
      case Op::Pow:
      case Op::Hypot:
      case Op::Maximum:
      case Op::Fmax:
      case Op::Minimum:
      case Op::Fmin:
        return two(own, f + "::at(v, w)", between);
      case Op::Cast:
      case Op::Neg:
      case Op::Abs:
        return one(own, jump(0), f + "::at(v)", between);
      default:
        return smooth_function(op()) != nullptr ? one(own, jump(0), f + "::at(v)", between) : "";
    }
  }

  // Integer sums and bit operations wrap around, so end points do not bound them. Only the
  // interpreter handles these.
  std::string to_integer(const std::string& own) const {
    switch (op()) {
      case Op::Cast:
        if (to_bool()) return truth_of(own, reached_jump(), 0, "v != 0 ? 1 : 0");
        return kept(one(own, reached_jump(), integer(0) ? "v" : "Trunc::at(v)"));
      case Op::Not:
        return to_bool() ? truth_of(own, jump(0), 1, "v == 0 ? 1 : 0") : "";
      case Op::IsNan:
        return integer(0) ? "" : one(own, jump(0), "v != v ? 1 : 0");
      case Op::IsInf:
        return integer(0) ? "" : one(own, jump(0), "fabs(v) == infinity() ? 1 : 0");
      case Op::And:
        return to_bool() ? two(own, "v != 0 && w != 0 ? 1 : 0") : "";
      case Op::Or:
        return to_bool() ? two(own, "v != 0 || w != 0 ? 1 : 0") : "";
      case Op::Xor:
        return to_bool() ? two(own, "(v != 0) != (w != 0) ? 1 : 0") : "";
      case Op::Maximum:
      case Op::Minimum:
        return kept(two(own, std::string(table_function(op())) + "::at(v, w)"));
      default:
        return "";
    }
  }

  // Returns an expression of v.
  std::string snapped() const {
    return fmt::format("rounded({}, v)", format_text(truth::Mode::Declared, code_.spec.to));
  }

  // Returns an operand's jump; for floats, widened by the operand's errors.
  std::string reached_jump() const {
    return integer(0) ? jump(0) : fmt::format("reached({}, reach({}))", jump(0), t_.in[0]);
  }
  std::string truth_of(const std::string& own, const std::string& ends, int at_zero,
                       const char* f) const {
    return fmt::format(
        "carry_to_bool({}, {}, {}, {}, {}, {}, [](double v) -> double {{ return {}; }})", own,
        result(), value(0), jump(0), ends, at_zero, f);
  }
  std::string kept(const std::string& carried) const {
    return fmt::format("keep_steps({}, {})", carried, result());
  }

  // Where and the larger or smaller of two: the other branch has its own errors.
  std::string joined_errors(const std::string& here) const {
    const bool where = op() == Op::Where, choice = ops::is_extremum(op());
    if (!(where || choice) || code_.tracks.integer || (where && t_.jump[0].empty())) return "";
    return fmt::format("    if ({}) join_errors({}, {}, {}, {});\n",
                       where ? fmt::format("jumps({})", t_.jump[0]) : here, t_.result,
                       t_.in[where ? 1 : 0], t_.in[where ? 2 : 1], t_.spec);
  }

  const truth::Instruction& code_;
  const PointText& t_;
};

}  // namespace

JumpText write_jump(const truth::Instruction& code, const PointText& text,
                    const std::string& name) {
  return JumpWriter(code, text).run(name);
}

}  // namespace kw::truth_gpu
