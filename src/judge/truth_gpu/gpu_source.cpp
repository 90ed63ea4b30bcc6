// The problem: the interpreter's programs work on chunks in registers; a GPU thread needs code for
// one element. The writer translates each instruction into one line that defines a new name.
// Constants and extents are literals, so the compiler can fold them and simplify divisions. The
// alternative, passing a program as data to a generic kernel, would decode instructions per
// element. The cost is that the text differs for every graph and shape, so each needs its own
// compile.
#include "truth_gpu/gpu_source.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "ports/bound.h"
#include "truth/scalar.h"
#include "truth_gpu/gpu_carry.h"

namespace kw::truth_gpu {

using graph::Op;
using tensor::DType;

std::string KernelText::param(int buffer, const std::string& type) {
  const auto [known, fresh] = types_.try_emplace(buffer, type);
  if (fresh) buffers_.push_back(buffer);
  // A buffer that the kernel writes anywhere is not a pointer to const.
  if (!fresh && known->second != type && !type.starts_with("const ")) known->second = type;
  return fmt::format("p{}", buffer);
}

std::string KernelText::parameters() const {
  std::string text;
  for (const int buffer : buffers_)
    text += fmt::format("{}{} p{}", text.empty() ? "" : ", ", types_.at(buffer), buffer);
  return text;
}

std::string number_text(double value) {
  if (std::isfinite(value)) return fmt::format("{:a}", value);
  return fmt::format("__longlong_as_double({:#x}LL)", std::bit_cast<uint64_t>(value));
}

std::string rounding_text(const truth::Rounding& r) {
  return fmt::format("{{{}, {}, {}, {}, {}, {}, {}}}", number_text(r.unit), number_text(r.tiny),
                     number_text(r.limit), number_text(r.half_unit), number_text(r.half_tiny),
                     number_text(r.half_limit), r.half_infinity);
}

std::string format_text(truth::Mode mode, DType type) {
  if (mode == truth::Mode::Truth) return "kNone";
  switch (type) {
    case DType::Fp16:
      return "kFp16";
    case DType::Bf16:
      return "kBf16";
    case DType::Fp8e4m3:
      return "kE4m3";
    case DType::Fp8e5m2:
      return "kE5m2";
    default:
      return "kNone";
  }
}

// Extents are literals, so the compiler replaces divisions by multiplications; 32 bits make these
// cheap.
std::string address_text(const truth::View& view) {
  const bool narrow = truth::count_of(view.shape) <= std::numeric_limits<uint32_t>::max();
  const std::string position = narrow ? "(unsigned)p" : "(unsigned long long)p";
  const char* suffix = narrow ? "u" : "ull";
  std::string text = std::to_string(view.offset);
  int64_t inner = 1;
  for (size_t d = view.shape.size(); d-- > 0; inner *= view.shape[d]) {
    if (view.strides[d] == 0) continue;
    std::string index = position;
    if (inner > 1) index += fmt::format(" / {}{}", inner, suffix);
    if (d > 0) index = fmt::format("({}) % {}{}", index, view.shape[d], suffix);
    text += fmt::format(" + {} * (Int)({})", view.strides[d], index);
  }
  return text;
}

namespace {

struct Storage {
  const char* pointer;
  const char* load;  // format string for p[at]
};

// Returns nullptr for types that no element is read from.
const Storage* storage_of(DType type) {
  static const std::map<DType, Storage> kStorage = {
      {DType::Fp64, {"const double*", "{}"}},
      {DType::Fp32, {"const float*", "(double){}"}},
      {DType::Fp16, {"const unsigned short*", "from_fp16({})"}},
      {DType::Bf16, {"const unsigned short*", "from_bf16({})"}},
      {DType::Fp8e4m3, {"const unsigned char*", "from_e4m3({})"}},
      {DType::Fp8e5m2, {"const unsigned char*", "from_e5m2({})"}},
      {DType::Int64, {"const long long*", "{}"}},
      {DType::Int32, {"const int*", "(Int){}"}},
      {DType::Int16, {"const short*", "(Int){}"}},
      {DType::Int8, {"const signed char*", "(Int){}"}},
      {DType::Uint32, {"const unsigned*", "(Int){}"}},
      {DType::Uint16, {"const unsigned short*", "(Int){}"}},
      {DType::Uint8, {"const unsigned char*", "(Int){}"}},
      {DType::Bool, {"const unsigned char*", "(Int)({} != 0)"}},
  };
  const auto found = kStorage.find(type);
  return found == kStorage.end() ? nullptr : &found->second;
}

// Wraps an integer to the type, as the interpreter's `wrapped` does. Returns "" when there is no
// device code.
std::string wrap_text(DType type, const std::string& value) {
  if (type == DType::Int64) return value;
  if (type == DType::Bool) return fmt::format("(Int)(({}) != 0)", value);
  const Storage* storage = truth::is_integer(type) ? storage_of(type) : nullptr;
  if (storage == nullptr) return "";
  const std::string pointer = storage->pointer;  // such as "const short*"
  return fmt::format("(Int)({})({})", pointer.substr(6, pointer.size() - 7), value);
}

// Returns a call of gpu_rules.cuh with {0}, {1} for the operands and {s} for the spec; "" if there
// is no rule.
std::string float_rule(Op op) {
  if (const char* f = smooth_function(op)) return fmt::format("unary<{}>({{0}}, {{s}})", f);
  if (const char* f = step_function(op))
    return fmt::format("TrackedValue{{{{{}::at({{0}}.t), 0, 0}}}}", f);
  static const std::map<Op, const char*> kRules = {
      {Op::Neg, "TrackedValue{{-{0}.t, {0}.a, {0}.h}}"},
      {Op::Abs, "TrackedValue{{fabs({0}.t), {0}.a, {0}.h}}"},
      {Op::Cast, "{0}"},
      {Op::Add, "add({0}, {1}, 1, {s}, found)"},
      {Op::Sub, "add({0}, {1}, -1, {s}, found)"},
      {Op::Mul, "mul({0}, {1}, {s})"},
      {Op::Div, "divide({0}, {1}, {s})"},
      {Op::Maximum, "choose({0}, {1}, 1, true, {s})"},
      {Op::Fmax, "choose({0}, {1}, 1, false, {s})"},
      {Op::Minimum, "choose({0}, {1}, -1, true, {s})"},
      {Op::Fmin, "choose({0}, {1}, -1, false, {s})"},
      {Op::Pow, "power({0}, {1}, {s})"},
      {Op::Atan2, "binary<Atan2>({0}, {1}, true, {s}, found)"},
      {Op::Hypot, "binary<Hypot>({0}, {1}, false, {s}, found)"},
      {Op::Copysign, "copy_sign({0}, {1}, {s}, found)"},
      {Op::Where, "({0} != 0 ? {1} : {2})"},
  };
  const auto found = kRules.find(op);
  return found == kRules.end() ? "" : found->second;
}

std::string spec_text(const truth::PointSpec& spec) {
  const truth::OpErrors& e = spec.errors;
  return fmt::format("{{{}, {}, {}, {}, {}, {}, {{{}, {}, {}, {}}}, {}, {}}}",
                     spec.mode == truth::Mode::Truth, spec.tracks.a, spec.tracks.h, spec.same,
                     format_text(spec.mode, spec.to), rounding_text(spec.rounding),
                     number_text(e.relative), number_text(e.argument), number_text(e.absolute),
                     number_text(e.floor), number_text(spec.joins_x), number_text(spec.joins_z));
}

class ElementWriter {
 public:
  ElementWriter(const GpuSources& sources, KernelText* kernel) : s_(sources), kernel_(kernel) {}

  Result<ElementName> run(const truth::TruthProgram& program) {
    names_.resize(static_cast<size_t>(program.registers));
    for (const truth::Instruction& constant : program.constants) KW_TRY(write(constant));
    for (const truth::Instruction& code : program.body) KW_TRY(write(code));
    return names_[static_cast<size_t>(program.result)];
  }

 private:
  static Error no_code(const std::string& what) {
    return input_error("no device code for " + what);
  }

  // Registers are reused, but every definition gets a new name.
  void define(const truth::Instruction& code, const std::string& value) {
    const std::string name = fmt::format("v{}", next_++);
    kernel_->line(fmt::format("{} {} = {};", code.tracks.integer ? "const Int" : "TrackedValue",
                              name, value));
    names_[static_cast<size_t>(code.out)] = {name, ""};
  }

  Status write(const truth::Instruction& code) {
    switch (code.kind) {
      case truth::Instruction::Kind::Constant:
        return write_constant(code);
      case truth::Instruction::Kind::Iota:
        return write_iota(code);
      case truth::Instruction::Kind::Input:
        return write_input(code);
      case truth::Instruction::Kind::Value:
        return write_value(code);
      case truth::Instruction::Kind::Point:
        return write_point(code);
    }
    return Done{};
  }

  // The result may reuse an operand's register, so the operands' names are copied first.
  Status write_point(const truth::Instruction& code) {
    PointText text;
    for (int k = 0; k < code.operands; ++k) {
      text.in[k] = name(code, k);
      text.jump[k] = names_[static_cast<size_t>(code.in[k])].jump;
    }
    KW_TRY(code.tracks.integer ? write_integer_point(code) : write_float_point(code, &text.spec));
    ElementName& result = names_[static_cast<size_t>(code.out)];
    text.result = result.value;
    const JumpText jump = write_jump(code, text, "j" + result.value);
    kernel_->add(jump.lines);
    if (jump.defined) result.jump = "j" + result.value;
    return Done{};
  }

  Status write_constant(const truth::Instruction& code) {
    if (code.tracks.integer) {
      define(code, fmt::format("(Int){:#x}ULL", static_cast<uint64_t>(code.integer)));
    } else {
      define(code, fmt::format("{{{}, {}, 0.0}}", number_text(code.number),
                               code.tracks.a ? number_text(code.error) : "0.0"));
    }
    return Done{};
  }

  Status write_iota(const truth::Instruction& code) {
    const std::string at = address_text(code.view);
    const std::string wrapped = code.tracks.integer ? wrap_text(code.dtype, at) : "";
    if (code.tracks.integer && wrapped.empty()) return no_code("positions of this type");
    const std::string format = format_text(truth::Mode::Declared, code.dtype);
    if (!code.tracks.integer && format == "kNone" && code.dtype != DType::Fp32 &&
        code.dtype != DType::Fp64)
      return no_code("positions of this type");
    const std::string rounds = code.dtype == DType::Fp32 ? "kFp32" : format;
    define(code, code.tracks.integer
                     ? wrapped
                     : fmt::format("{{rounded({}, (double)({})), 0.0, 0.0}}", rounds, at));
    return Done{};
  }

  // Several instructions often read the same address.
  std::string address(const truth::View& view) {
    const std::string text = address_text(view);
    const auto [known, fresh] =
        addresses_.try_emplace(text, fmt::format("at{}", addresses_.size()));
    if (fresh) kernel_->line(fmt::format("const Int {} = {};", known->second, text));
    return known->second;
  }

  Status write_input(const truth::Instruction& code) {
    const Storage* storage = storage_of(code.dtype);
    if (storage == nullptr)
      return no_code(std::string("inputs of type ") + tensor::dtype_name(code.dtype));
    const auto input = static_cast<size_t>(code.input - s_.first_input);
    const std::string place = fmt::format(
        "{}[{}]", kernel_->param(s_.inputs[input], storage->pointer), address(code.view));
    const std::string loaded = fmt::format(fmt::runtime(storage->load), place);
    define(code, code.tracks.integer ? loaded : fmt::format("{{{}, 0.0, 0.0}}", loaded));
    return Done{};
  }

  Status write_value(const truth::Instruction& code) {
    const NodeBuffers& from = s_.values[static_cast<size_t>(code.value - s_.first_value)];
    const std::string at = address(code.view);
    const auto error = [&](bool tracked, int buffer) {
      return tracked ? fmt::format("(double){}[{}]", kernel_->param(buffer, "const float*"), at)
                     : std::string("0.0");
    };
    if (code.tracks.integer) {
      define(code, fmt::format("{}[{}]", kernel_->param(from.t, "const long long*"), at));
    } else {
      define(code, fmt::format("{{{}[{}], {}, {}}}", kernel_->param(from.t, "const double*"), at,
                               error(code.tracks.a, from.a), error(code.tracks.h, from.h)));
    }
    if (from.lo < 0) return Done{};
    ElementName& result = names_[static_cast<size_t>(code.out)];
    result.jump = "j" + result.value;
    kernel_->line(fmt::format("const Jump {} = {{{}, {}}};", result.jump, error(true, from.lo),
                              error(true, from.hi)));
    return Done{};
  }

  std::string name(const truth::Instruction& code, int operand) const {
    return names_[static_cast<size_t>(code.in[operand])].value;
  }

  Status write_float_point(const truth::Instruction& code, std::string* spec_name) {
    const truth::PointSpec& spec = code.spec;
    const std::string op = graph::op_info(spec.op).name;
    const std::string rule = float_rule(spec.op);
    if (rule.empty() || spec.to == DType::E8m0) return no_code(op);
    const std::string s = *spec_name = fmt::format("s{}", next_);
    kernel_->line(fmt::format("const Spec {} = {};", s, spec_text(spec)));
    std::string names[3];
    for (int k = 0; k < code.operands; ++k) names[k] = name(code, k);
    std::string value =
        fmt::format(fmt::runtime(rule), names[0], names[1], names[2], fmt::arg("s", s));
    if (spec.snaps && spec.mode == truth::Mode::Truth) {
      if (code.in_tracks[0].integer) return no_code("casts from integers to fp8");
      value =
          fmt::format("snap({}, {}, {}, found)", names[0],
                      format_text(truth::Mode::Declared, spec.to), number_text(spec.range.half));
    } else if (spec.op == Op::Cast && code.in_tracks[0].integer) {
      if (spec.from == DType::Uint64) return no_code("casts from uint64");
      value = fmt::format("cast((double){}, {}, {}, {})", names[0],
                          format_text(truth::Mode::Declared, spec.to),
                          number_text(ports::unit_roundoff(spec.to)), s);
    }
    define(code, fmt::format("finish({}, {}, found)", value, s));
    look_for_overflow(code);
    return Done{};
  }

  // An infinity from finite operands may be one that only fp64 has.
  void look_for_overflow(const truth::Instruction& code) {
    if (code.spec.mode != truth::Mode::Truth || !(code.tracks.a || code.tracks.h)) return;
    std::string finite;
    for (int k = 0; k < code.operands; ++k) {
      if (!code.in_tracks[k].integer)
        finite += fmt::format(" && fabs({}.t) <= kLargest", name(code, k));
    }
    const std::string& y = names_[static_cast<size_t>(code.out)].value;
    kernel_->line(fmt::format("if (fabs({}.t) == infinity(){}) found |= kOutOfRange;", y, finite));
  }

  Status write_integer_point(const truth::Instruction& code) {
    const std::string value = code.in_tracks[0].integer || code.spec.op == Op::Where
                                  ? integers_text(code)
                                  : floats_text(code);
    if (value.empty())
      return no_code(std::string(graph::op_info(code.spec.op).name) + " of integers");
    define(code, value);
    return Done{};
  }

  // Returns an integer computed from floats: comparison, cast or classification.
  std::string floats_text(const truth::Instruction& code) const {
    const truth::PointSpec& spec = code.spec;
    const std::string x = name(code, 0);
    if (const char* comparison = comparison_text(spec.op))
      return fmt::format("(Int)({}.t {} {}.t)", x, comparison, name(code, 1));
    switch (spec.op) {
      case Op::Cast:
        if (spec.to == DType::Bool) return fmt::format("(Int)({}.t != 0)", x);
        return wrap_text(spec.to, fmt::format("to_whole({}.t)", x));
      case Op::Not:
        return fmt::format("(Int)({}.t == 0)", x);
      case Op::IsNan:
        return fmt::format("(Int)({0}.t != {0}.t)", x);
      case Op::IsInf:
        return fmt::format("(Int)(fabs({}.t) == infinity())", x);
      default:
        return "";
    }
  }

  std::string integers_text(const truth::Instruction& code) const {
    const truth::PointSpec& spec = code.spec;
    const std::string x = name(code, 0), z = code.operands > 1 ? name(code, 1) : "";
    if (spec.from == DType::Uint64 || spec.to == DType::Uint64) return "";
    if (const char* comparison = comparison_text(spec.op))
      return fmt::format("(Int)({} {} {})", x, comparison, z);
    switch (spec.op) {
      case Op::Cast:
        return wrap_text(spec.to, x);
      case Op::Where:
        return fmt::format("{} != 0 ? {} : {}", x, z, name(code, 2));
      case Op::Not:
        return spec.to == DType::Bool ? fmt::format("(Int)({} == 0)", x)
                                      : wrap_text(spec.to, "~" + x);
      case Op::Add:
        return wrap_text(spec.to, fmt::format("(Int)((unsigned long long){} + {})", x, z));
      case Op::Sub:
        return wrap_text(spec.to, fmt::format("(Int)((unsigned long long){} - {})", x, z));
      case Op::Mul:
        return wrap_text(spec.to, fmt::format("(Int)((unsigned long long){} * {})", x, z));
      case Op::FloorDiv:
        return wrap_text(spec.to, fmt::format("floor_divide({}, {}, found)", x, z));
      case Op::Remainder:
        return wrap_text(spec.to, fmt::format("remain({}, {}, found)", x, z));
      case Op::And:
        return fmt::format("{} & {}", x, z);
      case Op::Or:
        return fmt::format("{} | {}", x, z);
      case Op::Xor:
        return fmt::format("{} ^ {}", x, z);
      case Op::Maximum:
        return fmt::format("{0} > {1} ? {0} : {1}", x, z);
      case Op::Minimum:
        return fmt::format("{0} < {1} ? {0} : {1}", x, z);
      default:
        return "";
    }
  }

  const GpuSources& s_;
  KernelText* kernel_;
  std::vector<ElementName> names_;  // per register
  std::map<std::string, std::string> addresses_;
  int next_ = 0;
};

}  // namespace

Result<ElementName> write_element(const truth::TruthProgram& program, const GpuSources& sources,
                                  KernelText* kernel) {
  return ElementWriter(sources, kernel).run(program);
}

}  // namespace kw::truth_gpu
