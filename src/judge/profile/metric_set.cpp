// Tools report different metrics, but triggers in the catalogue name one canonical set. derive()
// closes the gap with a table: each row computes one metric from others. A row is skipped when an
// input is unknown, so no metric is ever guessed. The result has the weakest source of its inputs.
// Rows run once, in order, so a row may use only the results of earlier rows. Computing every
// metric in each importer was the alternative; the formulas would then exist three times.
#include "profile/metric_set.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "catalog/metric.h"
#include "core/check.h"
#include "core/json_writer.h"

namespace kw::profile {
namespace {

constexpr double kLanes = 32, kSector = 32;

using Values = std::vector<double>;
using Formula = std::optional<double> (*)(const Values&);

std::optional<double> quotient(const Values& v) {
  if (v[1] <= 0) return std::nullopt;
  return v[0] / v[1];
}

std::optional<double> percent_of(const Values& v) {
  if (v[1] <= 0) return v[0] == 0 ? std::optional<double>(0.0) : std::nullopt;
  return std::min(100.0, 100 * v[0] / v[1]);
}

// A formula needs all of its inputs. Later rows may use the results of earlier rows.
struct Derivation {
  const char* id;
  std::vector<const char*> from;
  Formula formula;
};

const std::vector<Derivation>& derivations() {
  static const std::vector<Derivation> rows = {
      {"dram_bytes",
       {"dram_read_bytes", "dram_write_bytes"},
       [](const Values& v) { return std::optional(v[0] + v[1]); }},
      {"load_sectors_per_request", {"global_load_sectors", "global_load_requests"}, quotient},
      {"store_sectors_per_request", {"global_store_sectors", "global_store_requests"}, quotient},
      {"load_bytes_per_thread",
       {"load_sectors_per_request", "load_efficiency_pct"},
       [](const Values& v) { return std::optional(v[0] * kSector * v[1] / 100 / kLanes); }},
      {"store_bytes_per_thread",
       {"store_sectors_per_request", "store_efficiency_pct"},
       [](const Values& v) { return std::optional(v[0] * kSector * v[1] / 100 / kLanes); }},
      {"bank_conflict_pct", {"bank_conflicts", "shared_wavefronts"}, percent_of},
      {"flops_per_shared_pass", {"fp32_flops", "shared_wavefronts"}, quotient},
      {"lane_efficiency_pct",
       {"active_lanes"},
       [](const Values& v) { return std::optional(std::min(100.0, 100 * v[0] / kLanes)); }},
      {"wave_tail_pct",
       {"waves"},
       [](const Values& v) -> std::optional<double> {
         if (v[0] <= 0) return std::nullopt;
         return 100 * (std::ceil(v[0]) - v[0]) / std::ceil(v[0]);
       }},
      {"is_persistent",
       {"waves"},
       [](const Values& v) { return std::optional(v[0] <= 1 ? 1.0 : 0.0); }},
      {"register_limited",
       {"blocks_by_registers", "blocks_by_shared", "blocks_by_threads", "blocks_by_limit"},
       [](const Values& v) {
         return std::optional(v[0] < std::min({v[1], v[2], v[3]}) ? 1.0 : 0.0);
       }},
      {"shared_limited",
       {"blocks_by_shared", "blocks_by_registers", "blocks_by_threads", "blocks_by_limit"},
       [](const Values& v) {
         return std::optional(v[0] < std::min({v[1], v[2], v[3]}) ? 1.0 : 0.0);
       }},
  };
  return rows;
}

}  // namespace

const char* source_name(MetricSource source) {
  constexpr const char* kNames[] = {"static", "vgpu", "ncu"};
  return kNames[static_cast<size_t>(source)];
}

void MetricSet::set(std::string_view id, double value, MetricSource source, std::string from) {
  KW_CHECK(catalog::find_metric(id) != nullptr, "no such metric: " + std::string(id));
  const auto at = values_.find(std::string(id));
  if (std::isfinite(value))
    values_[std::string(id)] = {value, source, std::move(from)};
  else if (at != values_.end())
    values_.erase(at);
}

void MetricSet::set_flag(std::string_view id, bool value, MetricSource source, std::string from) {
  set(id, value ? 1 : 0, source, std::move(from));
}

const Known* MetricSet::find(std::string_view id) const {
  const auto at = values_.find(std::string(id));
  return at == values_.end() ? nullptr : &at->second;
}

std::optional<double> MetricSet::get(std::string_view id) const {
  const Known* known = find(id);
  return known == nullptr ? std::nullopt : std::optional(known->value);
}

std::optional<bool> MetricSet::is(std::string_view id) const {
  const Known* known = find(id);
  return known == nullptr ? std::nullopt : std::optional(known->value > 0);
}

void MetricSet::merge(const MetricSet& other) {
  for (const auto& [id, known] : other.values_) {
    const auto at = values_.find(std::string(id));
    if (at == values_.end() || known.source > at->second.source) values_[id] = known;
  }
  notes.insert(notes.end(), other.notes.begin(), other.notes.end());
}

void MetricSet::derive() {
  for (const Derivation& row : derivations()) {
    if (knows(row.id)) continue;
    Values inputs;
    MetricSource weakest = MetricSource::Ncu;
    std::string from;
    for (const char* id : row.from) {
      const Known* known = find(id);
      if (known == nullptr) break;
      inputs.push_back(known->value);
      weakest = std::min(weakest, known->source);
      from += (from.empty() ? "from " : ", ") + std::string(id);
    }
    if (inputs.size() != row.from.size()) continue;
    if (const auto value = row.formula(inputs)) set(row.id, *value, weakest, from);
  }
}

Json to_json(const MetricSet& metrics) {
  Json values = Json::object();
  for (const auto& [id, known] : metrics.all()) {
    const catalog::Metric* metric = catalog::find_metric(id);
    Json one = Json::object();
    if (metric->unit == catalog::Unit::Flag)
      one.set("value", known.value > 0);
    else
      one.set("value", known.value);
    one.set("unit", catalog::unit_name(metric->unit)).set("source", source_name(known.source));
    values.set(id, one.set("from", known.from));
  }
  return Json::object()
      .set("kernel", metrics.kernel)
      .set("metrics", values)
      .set("notes", json_of(metrics.notes));
}

}  // namespace kw::profile
