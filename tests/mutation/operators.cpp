// What all operators share: the list, the probes, the keys.
//
// A probe answers whether a mutation ever changes a value: it computes the original result into a
// register of its own, then the mutated one, and traps where the bits differ. Run through the gate,
// a probe that passes was never infected. The alternative, watching registers inside the virtual
// GPU, would cost every launch something.
#include "operators.h"

#include <fmt/core.h>

#include <functional>

#include "site.h"

namespace kw::mutation {

namespace {

constexpr const char* kNames[kOperators] = {"constant", "comparison", "guard",      "address",
                                            "identity", "order",      "tail",       "narrow",
                                            "rounding", "early exit", "accumulate", "argument"};

int width_of(const std::string& type) {
  if (type.empty() || type == "pred") return 0;
  return std::atoi(type.c_str() + 1);
}

}  // namespace

const char* operator_name(Operator op) { return kNames[static_cast<int>(op) - 1]; }

std::string Mutation::key() const {
  return fmt::format("{}: {} at {}", operator_name(op), rule, place);
}

uint64_t Site::secret(const std::string& purpose) const {
  uint64_t mixed = std::hash<std::string>{}(purpose + at().place()) + seed_ * 0x9E3779B97F4A7C15u;
  mixed ^= mixed >> 31;
  mixed *= 0xBF58476D1CE4E5B9u;
  return mixed ^ (mixed >> 29);
}

std::string Site::type_of(const std::string& name) const {
  return is_register(name) ? lines_.register_type(at().function, name) : "";
}

std::string Site::probe(const std::string& text) const {
  const std::string& target = at().operands.empty() ? std::string() : at().operands[0];
  const std::string type = type_of(target);
  if (type.empty()) return "";
  const std::string original = at().with(0, "%kw_original");
  std::string lines =
      fmt::format("{{\n\t.reg .{} %kw_original;\n\t.reg .pred %kw_differs;\n", type);
  // A guard that does not hold leaves the register as it was.
  if (!at().guard.empty()) lines += fmt::format("\tmov.{} %kw_original, {};\n", type, target);
  lines += fmt::format("\t{}\n\t{}\n", original, text);
  if (type == "pred") {
    lines += fmt::format("\txor.pred %kw_differs, %kw_original, {};\n", target);
  } else {
    const int width = width_of(type);
    lines += fmt::format("\t.reg .b{} %kw_one, %kw_other;\n", width);
    lines += fmt::format("\tmov.b{0} %kw_one, %kw_original;\n\tmov.b{0} %kw_other, {1};\n", width,
                         target);
    lines += fmt::format("\tsetp.ne.s{0} %kw_differs, %kw_one, %kw_other;\n", width);
  }
  return lines + "\t@%kw_differs trap;\n\t}";
}

void Site::add_value(Operator op, const std::string& rule, const std::string& text) {
  all_.push_back({op, rule, at().place(), text, probe(text), index_, 0});
}

void Site::add(Operator op, const std::string& rule, const std::string& text) {
  all_.push_back({op, rule, at().place(), text, "", index_, 0});
}

namespace {

void mutate(const PtxLines& lines, size_t index, uint64_t seed, std::vector<Mutation>* all) {
  static constexpr void (*kAll[])(Site&) = {
      mutate_constants,  mutate_comparisons, mutate_guards, mutate_addresses,
      mutate_identities, mutate_order,       mutate_tails,  mutate_widths,
      mutate_roundings,  mutate_exits,       mutate_sums,   mutate_parameters};
  Site site(lines, index, seed, all);
  for (const auto one : kAll) one(site);
}

}  // namespace

std::vector<Mutation> ptx_mutations(const PtxLines& lines, uint64_t seed) {
  std::vector<Mutation> all;
  for (size_t i = 0; i < lines.instructions().size(); ++i) mutate(lines, i, seed, &all);
  return all;
}

std::vector<Mutation> same_mutations(const PtxLines& lines, const Mutation& mutation,
                                     uint64_t seed) {
  std::vector<Mutation> same;
  for (size_t i = 0; i < lines.instructions().size(); ++i) {
    if (lines.instructions()[i].place() != mutation.place) continue;
    std::vector<Mutation> here;
    mutate(lines, i, seed, &here);
    for (Mutation& one : here) {
      if (one.op != mutation.op || one.rule != mutation.rule) continue;
      same.push_back(std::move(one));
      break;
    }
  }
  return same;
}

}  // namespace kw::mutation
