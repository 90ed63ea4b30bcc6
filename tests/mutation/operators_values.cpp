// Operators that change a value: constants, comparisons, reduction identities, widths, roundings,
// sums.
#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <map>

#include "core/text.h"
#include "site.h"

namespace kw::mutation {

namespace {

/// Arithmetic whose immediates are numbers, not addresses or masks of lanes.
bool is_arithmetic(const Instruction& at) {
  for (const char* name : {"add", "sub", "mul", "mad", "fma", "div", "rem", "min", "max", "mov",
                           "selp", "shl", "shr", "and", "setp"}) {
    if (at.is(name)) return true;
  }
  return false;
}

bool is_float_type(std::string_view type) { return type == "f32" || type == "f64"; }

bool sets_float32(const Site& site) {
  const Instruction& at = site.at();
  return at.type() == "f32" && !at.operands.empty() && !site.type_of(at.operands[0]).empty() &&
         (at.is("add") || at.is("sub") || at.is("mul") || at.is("fma") || at.is("div") ||
          at.is("ld") || at.is("ex2") || at.is("max") || at.is("cvt"));
}

/// Lines that send an fp32 register through a narrower type.
std::string through(const std::string& name, const std::string& narrow) {
  if (narrow == "tf32")
    return fmt::format(
        "{{\n\t.reg .b32 %kw_n;\n\tcvt.rna.tf32.f32 %kw_n, {0};\n\tmov.b32 {0}, %kw_n;\n\t}}",
        name);
  return fmt::format(
      "{{\n\t.reg .b16 %kw_n;\n\tcvt.rn.{1}.f32 %kw_n, {0};\n\tcvt.f32.{1} {0}, %kw_n;\n\t}}", name,
      narrow);
}

void mutate_integer(Site& site, size_t operand, long long value) {
  const Instruction& at = site.at();
  const auto with = [&](long long other, const char* rule) {
    if (other != value)
      site.add_value(Operator::Constant, rule, at.with(operand, std::to_string(other)));
  };
  with(value + 1, "integer + 1");
  with(value - 1, "integer - 1");
  with(value * 2, "integer * 2");
  with(0, "integer to 0");
}

void mutate_float(Site& site, size_t operand, double value) {
  const Instruction& at = site.at();
  const bool wide = at.operands[operand][1] == 'd';
  const auto with = [&](Operator op, double other, const char* rule) {
    if (other == value || std::isnan(value)) return;
    site.add_value(op, rule, at.with(operand, float_literal(other, wide)));
  };
  with(Operator::Constant, value * 1.125, "float * 9/8");
  with(Operator::Constant, value * 0.875, "float * 7/8");
  with(Operator::Constant, -value, "float negated");
  const double next = wide ? std::nextafter(value, HUGE_VAL)
                           : std::nextafterf(static_cast<float>(value), HUGE_VALF);
  // A neighbour decides a comparison; in arithmetic it is a rounding.
  // The neighbours of zero are subnormal.
  if (value != 0)
    with(at.is("setp") ? Operator::Constant : Operator::Rounding, next, "float to its neighbour");
}

}  // namespace

void mutate_constants(Site& site) {
  const Instruction& at = site.at();
  if (!is_arithmetic(at)) return;
  for (size_t i = 1; i < at.operands.size(); ++i) {
    long long integer = 0;
    double number = 0;
    if (is_integer(at.operands[i], &integer) && !at.is("selp")) mutate_integer(site, i, integer);
    if (is_float(at.operands[i], &number) && std::isfinite(number)) mutate_float(site, i, number);
  }
}

void mutate_comparisons(Site& site) {
  static const std::map<std::string, std::vector<std::string>> kOthers = {
      {"lt", {"le", "ge"}},   {"le", {"lt", "gt"}},   {"gt", {"ge", "le"}},
      {"ge", {"gt", "lt"}},   {"eq", {"ne"}},         {"ne", {"eq"}},
      {"ltu", {"leu", "ge"}}, {"leu", {"ltu", "gt"}}, {"gtu", {"geu", "le"}},
      {"geu", {"gtu", "lt"}}, {"equ", {"neu", "eq"}}, {"neu", {"equ", "ne"}},
      {"lo", {"ls"}},         {"ls", {"lo"}},         {"hi", {"hs"}},
      {"hs", {"hi"}}};
  const Instruction& at = site.at();
  if (!at.is("setp") || at.has(".and") || at.has(".or") || at.has(".xor")) return;
  const std::vector<std::string> parts = split(at.opcode, '.');
  const auto others = kOthers.find(parts[1]);
  if (others != kOthers.end()) {
    for (const std::string& other : others->second)
      site.add_value(
          Operator::Comparison, parts[1] + " to " + other,
          at.with_opcode(replace_all(at.opcode, "." + parts[1] + ".", "." + other + ".")));
  }
  const std::string_view type = at.type();
  if (type == "s32" || type == "s64")
    site.add_value(Operator::Comparison, "signed to unsigned",
                   at.with_opcode(at.opcode.substr(0, at.opcode.size() - 3) + "u" +
                                  std::string(type.substr(1))));
  if (type == "u32" || type == "u64")
    site.add_value(Operator::Comparison, "unsigned to signed",
                   at.with_opcode(at.opcode.substr(0, at.opcode.size() - 3) + "s" +
                                  std::string(type.substr(1))));
}

void mutate_identities(Site& site) {
  const Instruction& at = site.at();
  if (!at.is("mov") && !at.is("selp")) return;
  static constexpr double kFirst[] = {0, 1, -HUGE_VAL, -std::numeric_limits<float>::max()};
  static constexpr const char* kName[] = {"0", "1", "-inf", "-max"};
  for (size_t i = 1; i < at.operands.size(); ++i) {
    double value = 0;
    if (!is_float(at.operands[i], &value)) continue;
    bool known = false;
    for (const double first : kFirst) known = known || first == value;
    if (!known) continue;
    for (size_t k = 0; k < std::size(kFirst); ++k) {
      if (kFirst[k] != value)
        site.add_value(Operator::Identity, fmt::format("first value to {}", kName[k]),
                       at.with(i, float_literal(kFirst[k], at.operands[i][1] == 'd')));
    }
  }
}

void mutate_widths(Site& site) {
  const Instruction& at = site.at();
  if (sets_float32(site)) {
    for (const char* narrow : {"f16", "bf16", "tf32"})
      site.add_value(Operator::Narrow, std::string("value through ") + narrow,
                     at.text() + "\n\t" + through(at.operands[0], narrow));
  }
  const bool long_sum = (at.type() == "s64" || at.type() == "u64") &&
                        (at.is("add") || at.is("mul") || at.is("mad")) && !at.has(".wide");
  if (long_sum && site.type_of(at.operands[0]).substr(1) == "64")
    site.add_value(Operator::Narrow, "64-bit integer through 32 bits",
                   at.text() + fmt::format("\n\t{{\n\t.reg .b32 %kw_n;\n\tcvt.u32.u64 %kw_n, "
                                           "{0};\n\tcvt.s64.s32 {0}, %kw_n;\n\t}}",
                                           at.operands[0]));
}

void mutate_roundings(Site& site) {
  const Instruction& at = site.at();
  if (!is_float_type(at.type())) return;
  const auto swap = [&](const char* from, const char* to, const char* rule) {
    if (at.has(from))
      site.add_value(Operator::Rounding, rule, at.with_opcode(replace_all(at.opcode, from, to)));
  };
  if (at.is("add") || at.is("mul") || at.is("fma") || at.is("sub")) {
    swap(".rn", ".rz", "rn to rz");
    if (!at.has(".rn"))
      site.add_value(Operator::Rounding, "rn to rz",
                     at.with_opcode(at.opcode.substr(0, at.opcode.rfind('.')) + ".rz." +
                                    std::string(at.type())));
    if (at.type() == "f32" && !at.has(".ftz"))
      site.add_value(Operator::Rounding, "ftz",
                     at.with_opcode(at.opcode.substr(0, at.opcode.rfind('.')) + ".ftz.f32"));
  }
  if (at.type() == "f32" && (at.is("div") || at.is("sqrt") || at.is("rcp")))
    swap(".rn", ".approx", "rn to approx");
  if (at.is("fma") && at.operands.size() == 4 && at.type() == "f32")
    site.add_value(
        Operator::Rounding, "fma split",
        fmt::format("{{\n\t.reg .f32 %kw_product;\n\t{0}mul.rn.f32 %kw_product, {1}, "
                    "{2};\n\t{0}add.rn.f32 {3}, %kw_product, {4};\n\t}}",
                    at.guard, at.operands[1], at.operands[2], at.operands[0], at.operands[3]));
}

void mutate_sums(Site& site) {
  const Instruction& at = site.at();
  if (at.operands.size() >= 3 && at.type() == "f32") {
    if (at.is("add"))
      site.add_value(Operator::Accumulate, "add to max",
                     at.guard + fmt::format("max.f32 {}, {}, {};", at.operands[0], at.operands[1],
                                            at.operands[2]));
    if (at.is("max"))
      site.add_value(Operator::Accumulate, "max to add",
                     at.guard + fmt::format("add.f32 {}, {}, {};", at.operands[0], at.operands[1],
                                            at.operands[2]));
    if (at.is("max"))
      site.add_value(Operator::Accumulate, "max to min",
                     at.with_opcode(replace_all(at.opcode, "max", "min")));
    if (at.is("fma") && at.operands.size() == 4 && at.operands[0] == at.operands[3]) {
      for (const char* narrow : {"f16", "bf16"})
        site.add_value(Operator::Accumulate, std::string("sum kept in ") + narrow,
                       at.text() + "\n\t" + through(at.operands[0], narrow));
    }
  }
  if (at.is("shfl") && at.operands.size() >= 5) {
    const std::string target = at.operands[0].substr(0, at.operands[0].find('|'));
    if (!site.type_of(target).empty())
      site.add(Operator::Accumulate, "one level of shuffles lost",
               at.text() + fmt::format("\n\tmov.b32 {}, {};", target, at.operands[1]));
  }
}

}  // namespace kw::mutation
