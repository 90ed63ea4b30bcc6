// One instruction under mutation: adds mutations with their probes. Internal to the operators.
#pragma once

#include <string>
#include <vector>

#include "operators.h"

namespace kw::mutation {

class Site {
 public:
  Site(const PtxLines& lines, size_t index, uint64_t seed, std::vector<Mutation>* all)
      : lines_(lines), index_(index), seed_(seed), all_(*all) {}

  const Instruction& at() const { return lines_.instructions()[index_]; }
  const PtxLines& lines() const { return lines_; }
  size_t index() const { return index_; }
  /// A number that follows from seed, place and purpose.
  uint64_t secret(const std::string& purpose) const;
  /// The declared type of a register: "f32"; "" if it is none.
  std::string type_of(const std::string& name) const;

  /// A mutation that only changes the value of the first operand, so that it can be probed.
  void add_value(Operator op, const std::string& rule, const std::string& text);
  /// Any other one.
  void add(Operator op, const std::string& rule, const std::string& text);

 private:
  std::string probe(const std::string& text) const;

  const PtxLines& lines_;
  size_t index_;
  uint64_t seed_;
  std::vector<Mutation>& all_;
};

// The operators, a few in each source.
void mutate_constants(Site& site);
void mutate_comparisons(Site& site);
void mutate_guards(Site& site);
void mutate_addresses(Site& site);
void mutate_identities(Site& site);
void mutate_order(Site& site);
void mutate_tails(Site& site);
void mutate_widths(Site& site);
void mutate_roundings(Site& site);
void mutate_exits(Site& site);
void mutate_sums(Site& site);
void mutate_parameters(Site& site);

}  // namespace kw::mutation
