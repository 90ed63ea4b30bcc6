// Steps of a run execute in different processes, so evidence about a kernel must survive on disk.
// roofline.json holds the analysis; ncu_top.json holds all metrics with their sources, and before
// them the worst metrics of each axis for the reader. "Worst" means: a trigger of the catalogue
// reacts to it most strongly. Both files are stamped, so an edited file is detected. Profiling
// again in each step was the alternative; it is slow and gives other numbers. The cost: a new
// metric or bottleneck name must be readable here.
#include "optimize/evidence.h"

#include <algorithm>
#include <array>
#include <map>

#include "catalog/catalog.h"
#include "catalog/metric.h"
#include "core/json_writer.h"
#include "profile/trigger.h"

namespace kw::optimize {
namespace {

constexpr std::array kAxes = {"compute", "memory", "latency"};

using catalog::Expression;

/// The strength of each comparison in a trigger, by metric; the largest counts.
void complaints(const Expression& part, const profile::MetricSet& metrics,
                std::map<std::string, double>& worst) {
  for (const Expression& inner : part.parts) complaints(inner, metrics, worst);
  if (part.kind != Expression::Kind::Below && part.kind != Expression::Kind::Above) return;
  if (const auto strength = profile::strength_of(part, metrics).value) {
    double& most = worst.try_emplace(part.metric, 0.0).first->second;
    most = std::max(most, *strength);
  }
}

Json top_metrics(const profile::MetricSet& metrics, const std::string& axis, int count) {
  std::map<std::string, double> worst;
  for (const catalog::Method& method : catalog::methods()) {
    if (method.axis == axis && method.trigger) complaints(*method.trigger, metrics, worst);
  }
  std::vector<std::pair<std::string, double>> order(worst.begin(), worst.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  order.resize(std::min(order.size(), static_cast<size_t>(count)));
  return json_list(order, [&metrics](auto& v, const auto& one) {
    const auto& [id, strength] = one;
    const catalog::Metric* metric = catalog::find_metric(id);
    const profile::Known* known = metrics.find(id);
    v("name", id)("value", known->value)("unit", catalog::unit_name(metric->unit));
    v("higher_is_worse", metric->better == catalog::Metric::Better::Low)("strength", strength);
    v("source", profile::source_name(known->source))("from", known->from);
  });
}

Result<profile::MetricSource> source_of(const std::string& name) {
  for (const profile::MetricSource one :
       {profile::MetricSource::Static, profile::MetricSource::Vgpu, profile::MetricSource::Ncu}) {
    if (name == profile::source_name(one)) return one;
  }
  return input_error("there is no source '{}'", name);
}

}  // namespace

Evidence evidence_of(const profile::Examined& examined) {
  return {examined.metrics, examined.roofline, examined.counters, examined.no_counters};
}

Json metrics_document(const Evidence& evidence, const std::string& kernel,
                      const std::string& report, int count) {
  JsonWriter v;
  v("degraded", !evidence.counters)("reason", evidence.no_counters)("profiled_file", kernel);
  v("backend", "cuda")("ncu_rep", report);
  v("metric_count_collected", evidence.metrics.all().size());
  for (const char* axis : kAxes) v(axis, top_metrics(evidence.metrics, axis, count));
  return v("all", evidence.metrics).take();
}

Result<Evidence> read_evidence(const Json& roofline, const Json& metrics) {
  Evidence evidence;
  evidence.roofline = KW_TRY(profile::roofline_from_json(roofline));
  evidence.counters = !metrics["degraded"].as_bool(true);
  evidence.no_counters = metrics["reason"].as_string();
  const Json& all = metrics["all"];
  evidence.metrics.kernel = all["kernel"].as_string();
  evidence.metrics.notes = strings_of(all["notes"]);
  for (const auto& [id, known] : all["metrics"].members()) {
    if (catalog::find_metric(id) == nullptr) return input_error("there is no metric '{}'", id);
    const profile::MetricSource source = KW_TRY(source_of(known["source"].as_string()));
    const Json& value = known["value"];
    evidence.metrics.set(id, value.is_bool() ? (value.as_bool() ? 1.0 : 0.0) : value.as_double(),
                         source, known["from"].as_string());
  }
  return evidence;
}

Status keep_evidence(Folder& folder, const Evidence& evidence, const std::string& roofline_name,
                     const std::string& metrics_name, Kept& kept) {
  kept.roofline = roofline_name;
  kept.metrics = metrics_name;
  const Json metrics =
      metrics_document(evidence, kept.file, kept.ncu_report, folder.state.settings.ncu_num);
  KW_TRY(
      folder.write_stamped(roofline_name, profile::to_json(evidence.roofline).dump(true) + "\n"));
  return folder.write_stamped(metrics_name, metrics.dump(true) + "\n");
}

Result<Evidence> evidence_about(const Folder& folder, const Kept& kept) {
  const std::string roofline = KW_TRY(folder.read_stamped(kept.roofline));
  const std::string metrics = KW_TRY(folder.read_stamped(kept.metrics));
  const Json first = KW_TRY(Json::parse(roofline));
  const Json second = KW_TRY(Json::parse(metrics));
  return read_evidence(first, second);
}

}  // namespace kw::optimize
