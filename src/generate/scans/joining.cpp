// The problem: scans, searches and column reductions carry different states in the same loops. The
// choice: a class returns the state's type and its operations as device code. The alternative,
// templates in a device header, would be shorter here, but every module would contain all of them.
// The cost: each kernel has its own device functions with its name.
#include "scans/joining.h"

#include <fmt/core.h>

#include <limits>

#include "core/text.h"
#include "emit/emit.h"

namespace kw::generate {

namespace {

/// The lowest or highest value of the dtype.
std::string extreme(DType dtype, bool lowest) {
  if (is_floating(dtype)) {
    const double infinity = std::numeric_limits<double>::infinity();
    return literal(dtype, lowest ? -infinity : infinity, 0);
  }
  if (dtype == DType::Bool) return lowest ? "false" : "true";
  if (tensor::is_unsigned_int(dtype))
    return lowest ? literal(dtype, 0, 0) : fmt::format("static_cast<{}>(-1)", register_type(dtype));
  const int bits = 8 * tensor::dtype_size(dtype);
  const int64_t low = std::numeric_limits<int64_t>::min() >> (64 - bits);
  return literal(dtype, 0, lowest ? low : ~low);
}

}  // namespace

std::string Joining::type() const {
  return has_place() ? fmt::format("{}_best<Index>", prefix_) : register_type(dtype_);
}

std::string Joining::identity() const {
  if (kind_ == Kind::Sum) return literal(dtype_, 0, 0);
  if (kind_ == Kind::Product) return literal(dtype_, 1, 1);
  const std::string worst = extreme(dtype_, kind_ != Kind::Min);
  if (!has_place()) return worst;
  // After every real position, so that a real element wins even if it has the worst value.
  return fmt::format("{}{{{}, static_cast<Index>(~0ull >> (65 - 8 * sizeof(Index)))}}", type(),
                     worst);
}

std::string Joining::of(const std::string& value, const std::string& place) const {
  return has_place() ? fmt::format("{}{{{}, {}}}", type(), value, place) : value;
}

std::string Joining::value(const std::string& state) const {
  return has_place() ? state + ".value" : state;
}

std::string Joining::place(const std::string& state) const { return state + ".place"; }

std::string Joining::join(const std::string& before, const std::string& now) const {
  return fmt::format("{}_join({}, {})", prefix_, before, now);
}

std::string Joining::step(const std::string& best, const std::string& value,
                          const std::string& place) const {
  if (places_ != Places::First) return join(best, of(value, place));
  return fmt::format("{}_step({}, {}, {})", prefix_, best, value, place);
}

std::string Joining::from_below(const std::string& state, const std::string& by,
                                const std::string& mask, const std::string& width) const {
  return fmt::format("{}_below({}, {}, {}, {})", prefix_, state, by, mask, width);
}

std::string Joining::upto(const std::string& state, const std::string& lane,
                          const std::string& mask, const std::string& width) const {
  return fmt::format("{}_upto<{}>({}, {}, {})", prefix_, width, state, lane, mask);
}

std::string Joining::of_warp(const std::string& state, const std::string& width) const {
  return fmt::format("{}_of_warp<{}>({})", prefix_, width, state);
}

std::string Joining::from_beside(const std::string& state, const std::string& by) const {
  return fmt::format("{}_beside({}, {})", prefix_, state, by);
}

std::string Joining::from_lane(const std::string& state, const std::string& lane,
                               const std::string& mask, const std::string& width) const {
  return fmt::format("{}_lane({}, {}, {}, {})", prefix_, state, lane, mask, width);
}

std::string Joining::compare(std::set<std::string>& functions) const {
  const bool most = kind_ == Kind::Max;
  switch (kind_) {
    case Kind::Sum:
      return "  return before + now;\n";
    case Kind::Product:
      return "  return before * now;\n";
    case Kind::LogSum:
      functions.insert("log_add_exp");
      return "  return log_add_exp(before, now);\n";
    default:
      break;
  }
  const bool floating = is_floating(dtype_);
  if (!has_place()) {
    const std::string function =
        fmt::format("{}_{}", most ? "max" : "min", floating ? "nan" : "of");
    functions.insert(function);
    return fmt::format("  return {}(before, now);\n", function);
  }
  const char sign = most ? '>' : '<';
  if (places_ == Places::Last) {
    return fmt::format("  return now.value {}= before.value{} ? now : before;\n", sign,
                       floating ? " || now.value != now.value" : "");
  }
  std::string text;
  if (floating) {
    text +=
        "  const bool now_nan = now.value != now.value, before_nan = before.value != "
        "before.value;\n"
        "  if (now_nan != before_nan) return now_nan ? now : before;\n"
        "  if (now_nan) return now.place < before.place ? now : before;\n";
  }
  text += fmt::format(
      "  if (now.value == before.value) return now.place < before.place ? now : "
      "before;\n  return now.value {} before.value ? now : before;\n",
      sign);
  return text;
}

void Joining::write_function(CudaWriter& w, const std::string& head,
                             const std::string& body) const {
  if (has_place()) w.line("template <typename Index>");
  std::string start = fmt::format("__device__ __forceinline__ {}", type());
  if (start.size() + prefix_.size() + head.size() > 95) {
    w.line(start);
    start = "";
  }
  const auto block = w.block("{}{}{}_{}", start, start.empty() ? "" : " ", prefix_, head);
  for (const std::string_view line : split_lines(body)) w.line(trim(line));
}

/// `call` is the shuffle of one register, which is written {}.
void Joining::write_shuffle(CudaWriter& w, const char* name, const char* parameters,
                            const char* call) const {
  const bool narrow = tensor::dtype_size(dtype_) < 4 && !in_float(dtype_);
  const auto one = [&](const std::string& what) { return fmt::format(fmt::runtime(call), what); };
  const std::string own = has_place() ? one("state.value") : one("state");
  const std::string value =
      narrow ? fmt::format("static_cast<{}>({})", register_type(dtype_), own) : own;
  write_function(w, fmt::format("{}({} state, {})", name, type(), parameters),
                 has_place() ? fmt::format("return {{{}, {}}};", value, one("state.place"))
                             : fmt::format("return {};", value));
}

void Joining::write_state(CudaWriter& w) const {
  w.comment(fmt::format("The best so far and where it stands; NaN wins, the {} of equals counts.",
                        places_ == Places::First ? "first" : "last"));
  w.line("template <typename Index>");
  const auto block = w.definition(fmt::format("struct {}_best", prefix_));
  w.line("{} value;", register_type(dtype_));
  w.line("Index place;");
}

/// The best of a warp, for states that prefer the first of equal elements.
void Joining::write_of_warp(CudaWriter& w) const {
  write_shuffle(w, "beside", "int by", "__shfl_xor_sync(0xffffffffu, {}, by)");
  w.line("template <int kWidth, typename Index>");
  w.line("__device__ __forceinline__ {}", type());
  const auto whole = w.block("{}_of_warp({} best)", prefix_, type());
  w.line("#pragma unroll");
  w.line("for (int by = kWidth / 2; by > 0; by /= 2) best = {};",
         join("best", from_beside("best", "by")));
  w.line("return best;");
}

/// A scan over lanes, for all other states.
void Joining::write_upto(CudaWriter& w) const {
  write_shuffle(w, "below", "int by, unsigned int mask, int width",
                "__shfl_up_sync(mask, {}, by, width)");
  write_shuffle(w, "lane", "int lane, unsigned int mask, int width",
                "__shfl_sync(mask, {}, lane, width)");
  w.comment("The join of all lanes up to the own one.");
  w.line(has_place() ? "template <int kWidth, typename Index>" : "template <int kWidth>");
  w.line("__device__ __forceinline__ {}", type());
  const auto scan = w.block("{}_upto({} state, int lane, unsigned int mask)", prefix_, type());
  {
    const auto steps = w.unrolled("for (int by = 1; by < kWidth; by *= 2)");
    w.line("const {} below = {};", type(), from_below("state", "by", "mask", "kWidth"));
    w.line("if (lane >= by) state = {};", join("below", "state"));
  }
  w.line("return state;");
}

std::string Joining::definitions(std::set<std::string>& functions, Lanes lanes) const {
  CudaWriter w;
  const bool first = places_ == Places::First;
  if (has_place()) write_state(w);
  write_function(w, fmt::format("join({0} before, {0} now)", type()), compare(functions));
  if (first) {
    // Comparisons with NaN are false: a NaN is better than any number, and no value is better than
    // a NaN.
    write_function(
        w, fmt::format("step({0} best, {1} value, Index place)", type(), register_type(dtype_)),
        fmt::format("const bool better = !(value {} best.value){};\n"
                    "return {{better ? value : best.value, better ? place : best.place}};",
                    kind_ == Kind::Max ? "<=" : ">=",
                    is_floating(dtype_) ? " && best.value == best.value" : ""));
  }
  if (lanes == Lanes::Many && first) write_of_warp(w);
  if (lanes == Lanes::Many && !first) write_upto(w);
  return w.text();
}

}  // namespace kw::generate
