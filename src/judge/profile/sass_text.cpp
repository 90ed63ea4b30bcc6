// A listing of machine code is too long to read, and a diff of two listings shows mostly changed
// registers. These texts show counts instead: widths of loads and stores, spills, barriers, loops,
// opcodes. fact_changes() compares the counts of two kernels, one line per difference. Comparing
// instructions in order was the alternative; the compiler's scheduling would dominate it. The cost:
// code that was only reordered shows no change.
#include "profile/sass_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "core/json_writer.h"
#include "core/text.h"

namespace kw::profile {
namespace {

constexpr size_t kMostOpcodes = 16;  // in a text for the user

std::string counted(int count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

/// "4 x 16 bytes, 1 x 4 bytes": the widest first.
std::string widths_text(const std::map<int, int>& by_width) {
  std::vector<std::string> parts;
  for (auto at = by_width.rbegin(); at != by_width.rend(); ++at)
    parts.push_back(
        fmt::format("{} x {} {}", at->second, at->first, at->first == 1 ? "byte" : "bytes"));
  return join(parts, ", ");
}

std::string spills_text(const SassFacts& facts) {
  if (facts.spill_loads + facts.spill_stores == 0) return "no spills";
  return fmt::format("local memory (spills): {} loads, {} stores", facts.spill_loads,
                     facts.spill_stores);
}

std::vector<std::string> fact_parts(const SassFacts& facts) {
  std::vector<std::string> parts = {counted(facts.instructions, "instruction", "instructions")};
  if (!facts.loads.empty()) parts.push_back("global loads " + widths_text(facts.loads));
  if (!facts.stores.empty()) parts.push_back("global stores " + widths_text(facts.stores));
  parts.push_back(spills_text(facts));
  if (facts.barriers > 0) parts.push_back(counted(facts.barriers, "barrier", "barriers"));
  if (facts.tensor > 0) parts.push_back(counted(facts.tensor, "matrix product", "matrix products"));
  std::string loops = facts.loops == 0 ? "no loop" : counted(facts.loops, "loop", "loops");
  if (facts.deepest > 1) loops += fmt::format(", {} deep", facts.deepest);
  parts.push_back(loops);
  return parts;
}

std::string opcodes_text(const SassFacts& facts) {
  std::vector<std::pair<std::string, int>> opcodes(facts.opcodes.begin(), facts.opcodes.end());
  std::ranges::stable_sort(opcodes,
                           [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> words;
  for (size_t i = 0; i < std::min(kMostOpcodes, opcodes.size()); ++i)
    words.push_back(fmt::format("{} {}", opcodes[i].second, opcodes[i].first));
  if (opcodes.size() > kMostOpcodes)
    words.push_back(fmt::format("{} kinds more", opcodes.size() - kMostOpcodes));
  return join(words, ", ");
}

template <typename Key>
void add_counts(std::map<Key, int>& to, const std::map<Key, int>& from) {
  for (const auto& [key, count] : from) to[key] += count;
}

class Changes {
 public:
  void note(const std::string& what, int before, int after) {
    if (before != after) lines_.push_back(fmt::format("{}: {} -> {}", what, before, after));
  }
  template <typename Key, typename Name>
  void note_all(const std::map<Key, int>& before, const std::map<Key, int>& after, Name name) {
    std::set<Key> keys;
    for (const auto& [key, count] : before) keys.insert(key);
    for (const auto& [key, count] : after) keys.insert(key);
    const auto at = [](const std::map<Key, int>& counts, const Key& key) {
      const auto found = counts.find(key);
      return found == counts.end() ? 0 : found->second;
    };
    for (const Key& key : keys) note(name(key), at(before, key), at(after, key));
  }
  std::vector<std::string> take() { return std::move(lines_); }

 private:
  std::vector<std::string> lines_;
};

}  // namespace

SassFacts total_facts(const std::vector<SassFunction>& functions) {
  SassFacts total;
  for (const SassFunction& function : functions) {
    const SassFacts one = sass_facts(function);
    total.instructions += one.instructions;
    add_counts(total.opcodes, one.opcodes);
    add_counts(total.loads, one.loads);
    add_counts(total.stores, one.stores);
    total.spill_loads += one.spill_loads;
    total.spill_stores += one.spill_stores;
    total.barriers += one.barriers;
    total.tensor += one.tensor;
    total.loops += one.loops;
    total.deepest = std::max(total.deepest, one.deepest);
  }
  return total;
}

std::string facts_line(const SassFacts& facts) { return join(fact_parts(facts), "; "); }

std::string facts_text(const SassFacts& facts, const std::string& indent) {
  std::string text;
  for (const std::string& part : fact_parts(facts)) text += indent + part + "\n";
  return text + indent + "opcodes: " + opcodes_text(facts) + "\n";
}

std::vector<std::string> fact_changes(const SassFacts& before, const SassFacts& after) {
  Changes changes;
  changes.note("instructions", before.instructions, after.instructions);
  changes.note_all(before.loads, after.loads,
                   [](int width) { return fmt::format("global loads of {} bytes", width); });
  changes.note_all(before.stores, after.stores,
                   [](int width) { return fmt::format("global stores of {} bytes", width); });
  changes.note("spill loads", before.spill_loads, after.spill_loads);
  changes.note("spill stores", before.spill_stores, after.spill_stores);
  changes.note("barriers", before.barriers, after.barriers);
  changes.note("matrix products", before.tensor, after.tensor);
  changes.note("loops", before.loops, after.loops);
  changes.note_all(before.opcodes, after.opcodes, [](const std::string& opcode) { return opcode; });
  return changes.take();
}

std::string verdict_text(const std::string& method, const SassVerdict& verdict) {
  std::string text =
      fmt::format("{}: {}, {}\n", method, sass_state_name(verdict.state), verdict.why);
  for (const SassCheckResult& sighting : verdict.sightings)
    text += fmt::format("  {} {}: {}, {}\n", catalog::sass_check_name(sighting.check.kind),
                        sighting.check.opcodes, sass_state_name(sighting.state), sighting.why);
  return text;
}

void fields(auto& v, SassFacts& f) {
  v("instructions", f.instructions)("global_loads", f.loads)("global_stores", f.stores);
  v("spill_loads", f.spill_loads)("spill_stores", f.spill_stores)("barriers", f.barriers);
  v("matrix_products", f.tensor)("loops", f.loops)("deepest_loop", f.deepest)("opcodes", f.opcodes);
}

Json to_json(const SassFacts& facts) { return record_json(facts); }

void fields(auto& v, SassCheckResult& s) {
  v("check", computed(catalog::sass_check_name(s.check.kind)))("opcodes", s.check.opcodes);
  v("state", computed(sass_state_name(s.state)))("here", s.here)("without", s.without);
  v("why", s.why);
}

void fields(auto& v, SassVerdict& s) {
  v("state", computed(sass_state_name(s.state)))("why", s.why)("sightings", s.sightings);
}

Json to_json(const SassVerdict& verdict) { return record_json(verdict); }

}  // namespace kw::profile
