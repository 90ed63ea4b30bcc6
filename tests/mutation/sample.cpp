#include "sample.h"

#include <algorithm>
#include <map>
#include <random>
#include <string>

namespace kw::mutation {

namespace {

bool is_scarce(Operator op) {
  return op == Operator::Order || op == Operator::Tail || op == Operator::Identity ||
         op == Operator::Accumulate || op == Operator::EarlyExit;
}

}  // namespace

std::vector<Mutation> sample(std::vector<Mutation> all, size_t each, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::shuffle(all.begin(), all.end(), random);
  std::map<Operator, std::map<std::string, std::vector<const Mutation*>>> by_rule;
  for (const Mutation& one : all) {
    // Rules of plan lines name what they change; the first word is enough to tell kinds apart.
    const std::string rule = one.is_plan() ? one.rule.substr(0, one.rule.find(' ')) : one.rule;
    by_rule[one.op][rule].push_back(&one);
  }
  std::vector<Mutation> chosen;
  for (const auto& [op, rules] : by_rule) {
    const size_t most = is_scarce(op) ? 2 * each : each;
    size_t taken = 0;
    for (size_t round = 0; taken < most; ++round) {
      bool any = false;
      for (const auto& [rule, mutants] : rules) {
        if (round >= mutants.size() || taken >= most) continue;
        chosen.push_back(*mutants[round]);
        any = true;
        ++taken;
      }
      if (!any) break;
    }
  }
  return chosen;
}

}  // namespace kw::mutation
