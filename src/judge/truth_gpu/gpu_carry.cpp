// The problem: near a discontinuity, a small error in an operand may change the result by a whole
// step. The interpreter carries such jumps as intervals through every op; the device must do the
// same. We write one call per instruction, chosen by the op table's `between` entry, so both follow
// the same rules. The alternative, all rules in one generic device function, would branch per
// element at run time. The cost: an op without a rule here sets a flag, and the whole truth falls
// back to the interpreter.
#include "truth_gpu/gpu_carry.h"

#include <fmt/core.h>

#include <algorithm>

#include "truth_gpu/gpu_source.h"

namespace kw::truth_gpu {

using graph::Op;
using tensor::DType;

const char* smooth_function(Op op) {
  const char* function = nullptr;
  switch (op) {
#define KW_FUNCTION(op, name, ...) \
  case Op::op:                     \
    function = #op;                \
    __VA_ARGS__ break;
#define HOST_ONLY function = nullptr;
#include "ops/table.def"
    default:
      break;
  }
  return function;
}

const char* step_function(Op op) {
  if (!graph::op_info(op).discontinuous) return nullptr;
  switch (op) {
#define KW_UNARY(op, name, ...) \
  case Op::op:                  \
    return #op;
#include "ops/table.def"
    default:
      return nullptr;
  }
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

const char* carry_kind(Op op) {
  switch (graph::op_info(op).between) {
    case ops::Between::ByEnds:
      return "kByEnds";
    case ops::Between::OverZero:
      return "kOverZero";
    case ops::Between::OverOne:
      return "kOverOne";
    case ops::Between::Wave:
      return "kWave";
    case ops::Between::Pole:
      return "kPole";
    default:
      return "kAnything";
  }
}

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
    const std::string all = reaches(own.empty() ? "Jump{0, 0}" : own);
    if (!all.empty()) return {defined(all) + joined_errors(), true};
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

  // A result far from the truth also has a larger rounding error.
  std::string scale() const {
    const truth::PointSpec& s = code_.spec;
    return number_text(1 + 2 * s.rounding.half_unit + 8 * s.errors.relative * s.rounding.unit);
  }

  // Returns "" when the op itself has no discontinuity within its operands' errors.
  std::string begins() const {
    const std::string& x = t_.in[0];
    if (integer(0) || !(tracked(0) || (comparison_text(op()) != nullptr && tracked(1)))) return "";
    if (comparison_text(op()) != nullptr)
      return fmt::format("flipped({} != 0, may_flip({}, {}, {}))", t_.result, x, t_.in[1],
                         code_.spec.same);
    if (const char* f = step_function(op())) return fmt::format("stepped<{}>({}, false)", f, x);
    if (!code_.tracks.integer) return "";
    if (op() == Op::Not) return fmt::format("flipped({} != 0, may_be_zero({}))", t_.result, x);
    if (op() == Op::IsNan || op() == Op::IsInf)
      return fmt::format("flipped({} != 0, reach({}) == infinity())", t_.result, x);
    if (op() == Op::Cast && to_bool()) return fmt::format("stepped<IsTrue>({}, true)", x);
    return op() == Op::Cast ? fmt::format("stepped<Trunc>({}, false)", x) : "";
  }

  // Returns a Jump that combines the op's own and its operands'; "" when there is no rule.
  std::string reaches(const std::string& own) const {
    if (op() == Op::Where)
      return fmt::format("carry_select({} != 0, {}, {}, {}, {}, {}, found)", t_.in[0], jump(0),
                         value(1), jump(1), value(2), jump(2));
    if (comparison_text(op()) != nullptr) return comparison(own);
    if (code_.tracks.integer) return to_integer(own);
    if (const char* f = step_function(op()))
      return one("kByEnds", own, op() == Op::Sign ? jump(0) : reached(),
                 fmt::format("{}::at(v)", f));
    return to_float(own);
  }

  std::string one(const char* kind, const std::string& own, const std::string& ends,
                  const std::string& f) const {
    return fmt::format(
        "carry({}, {}, {}, {}, {}, {}, [](double v) -> double {{ return {}; }}, found)", kind, own,
        result(), value(0), ends, scale(), f);
  }
  std::string two(const char* kind, const std::string& own, const std::string& f) const {
    return fmt::format(
        "carry({}, {}, {}, {}, {}, {}, {}, {}, {}, "
        "[](double v, double w) -> double {{ return {}; }}, found)",
        kind, own, result(), value(0), jump(0), value(1), jump(1), code_.spec.same, scale(), f);
  }

  std::string comparison(const std::string& own) const {
    const bool equality = op() == Op::Eq || op() == Op::Ne;
    return fmt::format(
        "carry_comparison({}, {}, {}, {} != 0, {}, {}, {}, {}, {}, "
        "[](double v, double w) -> double {{ return v {} w ? 1 : 0; }}, found)",
        equality, integer(0) && integer(1), own, t_.result, value(0), jump(0), value(1), jump(1),
        code_.spec.same, comparison_text(op()));
  }

  std::string to_float(const std::string& own) const {
    const char* kind = carry_kind(op());
    if (const char* f = smooth_function(op()))
      return one(kind, own, jump(0), fmt::format("{}::at(v)", f));
    switch (op()) {
      case Op::Cast:
        return one(kind, own, jump(0), "v");
      case Op::Neg:
        return one(kind, own, jump(0), "-v");
      case Op::Abs:
        return one(kind, own, jump(0), "fabs(v)");
      case Op::Add:
        return two(kind, own, "v + w");
      case Op::Sub:
        return two(kind, own, "v - w");
      case Op::Mul:
        return two(kind, own, "v * w");
      case Op::Div:
        return two(kind, own, "v / w");
      case Op::Pow:
        return two(kind, own, "v");
      case Op::Hypot:
        return two(kind, own, "hypotenuse(v, w)");
      case Op::Maximum:
        return choice("picked(v, w, 1, true)");
      case Op::Fmax:
        return choice("picked(v, w, 1, false)");
      case Op::Minimum:
        return choice("picked(v, w, -1, true)");
      case Op::Fmin:
        return choice("picked(v, w, -1, false)");
      default:
        return "";
    }
  }

  std::string choice(const std::string& f) const {
    return fmt::format(
        "carry_choice({}, {}, {}, {}, {}, {}, [](double v, double w) -> double {{ return {}; }}, "
        "found)",
        t_.result, t_.in[0], jump(0), t_.in[1], jump(1), t_.spec, f);
  }

  // Integer sums and bit operations wrap around, so end points do not bound them. Only the
  // interpreter handles these.
  std::string to_integer(const std::string& own) const {
    switch (op()) {
      case Op::Cast:
        if (to_bool()) return truth_of(own, reached(), 0, "v != 0 ? 1 : 0");
        return kept(one("kByEnds", own, reached(), integer(0) ? "v" : "trunc(v)"));
      case Op::Not:
        return to_bool() ? truth_of(own, jump(0), 1, "v == 0 ? 1 : 0") : "";
      case Op::IsNan:
        return integer(0) ? "" : one("kByEnds", own, jump(0), "v != v ? 1 : 0");
      case Op::IsInf:
        return integer(0) ? "" : one("kByEnds", own, jump(0), "fabs(v) == infinity() ? 1 : 0");
      case Op::And:
        return to_bool() ? two("kByEnds", own, "v != 0 && w != 0 ? 1 : 0") : "";
      case Op::Or:
        return to_bool() ? two("kByEnds", own, "v != 0 || w != 0 ? 1 : 0") : "";
      case Op::Xor:
        return to_bool() ? two("kByEnds", own, "(v != 0) != (w != 0) ? 1 : 0") : "";
      case Op::Maximum:
        return kept(two("kByEnds", own, "v > w ? v : w"));
      case Op::Minimum:
        return kept(two("kByEnds", own, "v < w ? v : w"));
      default:
        return "";
    }
  }

  // Returns an operand's jump; for floats, widened by the operand's errors.
  std::string reached() const {
    return integer(0) ? jump(0) : fmt::format("reached({}, {})", jump(0), t_.in[0]);
  }
  std::string truth_of(const std::string& own, const std::string& ends, int at_zero,
                       const char* f) const {
    return fmt::format(
        "carry_to_bool({}, {}, {}, {}, {}, {}, [](double v) -> double {{ return {}; }}, found)",
        own, result(), value(0), jump(0), ends, at_zero, f);
  }
  std::string kept(const std::string& carried) const {
    std::string here;
    for (const std::string& jump : t_.jump) {
      if (!jump.empty()) here += (here.empty() ? "jumps(" : " || jumps(") + jump + ")";
    }
    return fmt::format("keep_steps({}, {}, {})", carried, here, result());
  }

  std::string joined_errors() const {
    if (op() != Op::Where || code_.tracks.integer || t_.jump[0].empty()) return "";
    return fmt::format("    join_errors({}, {}, {}, {}, {});\n", t_.result, t_.jump[0], t_.in[1],
                       t_.in[2], t_.spec);
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
