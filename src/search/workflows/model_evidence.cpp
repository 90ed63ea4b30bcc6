// Evidence for models in a few lines: machine code compared with the best module so far, and
// hardware counters of one call if they are available.
#include <fmt/core.h>

#include <algorithm>

#include "catalog/metric.h"
#include "core/text.h"
#include "evidence/evidence.h"
#include "profile/sass_text.h"
#include "profile/trigger.h"
#include "workflows/explaining_judge.h"

namespace kw::workflows {
namespace {

constexpr double kProfilerSeconds = 30;
constexpr size_t kMostChanges = 8;
constexpr size_t kMostStalls = 3;
constexpr double kLeastStall = 5;  // percent of a warp's time

constexpr const char* kTelling[] = {
    "duration_us",       "sm_throughput_pct",        "memory_throughput_pct", "dram_throughput_pct",
    "l2_throughput_pct", "l1_throughput_pct",        "tensor_pipe_pct",       "occupancy_pct",
    "issue_active_pct",  "load_sectors_per_request", "bank_conflict_pct"};

/// The most frequent reasons for waiting, longest first.
std::vector<std::string> stalls(const profile::MetricSet& metrics) {
  std::vector<std::pair<double, std::string>> waits;
  for (const auto& [id, known] : metrics.all()) {
    if (!id.starts_with("stall_") || known.value < kLeastStall) continue;
    waits.emplace_back(known.value, id);
  }
  std::ranges::sort(waits, std::greater<>());
  if (waits.size() > kMostStalls) waits.resize(kMostStalls);
  std::vector<std::string> words;
  for (const auto& [value, id] : waits) {
    const std::string reason = replace_all(id.substr(6, id.size() - 10), "_", " ");
    words.push_back(fmt::format("{} {:.0f} %", reason, value));
  }
  return words;
}

}  // namespace

std::string code_hint(const profile::SassFacts& code, const profile::SassFacts* best) {
  std::string out = "machine code (disassembled): " + profile::facts_line(code) + "\n";
  if (code.spill_loads + code.spill_stores > 0)
    out += "  - registers spill to local memory: shorten live ranges, or use smaller tiles\n";
  if (best == nullptr) return out;
  std::vector<std::string> changes = profile::fact_changes(*best, code);
  const size_t count = changes.size();
  if (count > kMostChanges) changes.resize(kMostChanges);
  out += count == 0 ? "  every count is that of the best module so far\n"
                    : "  against the best module so far: " + join(changes, "; ") +
                          (count > kMostChanges ? "; …" : "") + "\n";
  return out;
}

std::string hardware_hint(const profile::MetricSet& metrics) {
  std::vector<std::string> words;
  for (const char* id : kTelling) {
    const profile::Known* known = metrics.find(id);
    if (known == nullptr || known->source != profile::MetricSource::Ncu) continue;
    words.push_back(fmt::format("{} {}", catalog::find_metric(id)->title,
                                profile::value_text(id, known->value)));
  }
  if (words.empty()) return "";
  std::string out =
      "hardware counters (ncu, one call of its longest launch): " + join(words, "; ") + "\n";
  const std::vector<std::string> waits = stalls(metrics);
  if (!waits.empty()) out += "  warps wait most for: " + join(waits, ", ") + "\n";
  return out;
}

const ExplainingJudge::Looked& ExplainingJudge::look_at(const record::Candidate& candidate,
                                                        bool hardware) {
  const auto known = looked_.find(candidate.id);
  const bool enough = known != looked_.end() && (!hardware || !known->second.hardware.empty());
  if (enough) return known->second;
  evidence::EvidenceRequest ask;
  ask.module_text = candidate.text;
  ask.task = judge_.request().task;
  ask.dims = judge_.dims();
  ask.tunes = candidate.tunes;
  ask.target = judge_.request().verify.target;
  ask.calibration = &calibration_;
  ask.count = false;
  ask.hardware = hardware;
  ask.timeout_seconds = judge_.request().verify.timeout_seconds;
  ask.profiler_seconds = kProfilerSeconds;
  Looked& looked = looked_[candidate.id];
  // Missing evidence is never a reason to stop.
  const auto examined = evidence::examine_module(ask, judge_.tools());
  if (!examined) return looked;
  if (!examined->sass.empty()) looked.code = profile::total_facts(examined->sass);
  if (!hardware) return looked;
  looked.hardware = examined->counters ? hardware_hint(examined->metrics) : "";
  if (looked.hardware.empty()) looked.hardware = "hardware counters cannot be read here\n";
  return looked;
}

std::string ExplainingJudge::evidence_hint(const record::Candidate& candidate) {
  const archive::Entry* best = archive_.best();
  std::optional<profile::SassFacts> best_code;
  if (best != nullptr && best->candidate.id != candidate.id)
    best_code = look_at(best->candidate, false).code;
  const Looked& looked = look_at(candidate, judge_.has_clock());
  std::string out;
  if (looked.code) out += code_hint(*looked.code, best_code ? &*best_code : nullptr);
  return out + looked.hardware;
}

}  // namespace kw::workflows
