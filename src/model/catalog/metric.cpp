#include "catalog/metric.h"

namespace kw::catalog {
namespace {

constexpr const char* kUnitNames[] = {"%", "us", "bytes", "count", "ratio", "flag"};
constexpr const char* kBetterNames[] = {"high", "low", "neither"};

Json names_json(const std::vector<std::string>& names) {
  Json list = Json::array();
  for (const std::string& name : names) list.push(name);
  return list;
}

}  // namespace

const char* unit_name(Unit unit) { return kUnitNames[static_cast<size_t>(unit)]; }

Json to_json(const Metric& metric) {
  Json json = Json::object();
  json.set("id", metric.id).set("title", metric.title).set("unit", unit_name(metric.unit));
  json.set("better", kBetterNames[static_cast<size_t>(metric.better)]);
  json.set("ncu", names_json(metric.ncu)).set("labels", names_json(metric.labels));
  json.set("vgpu", names_json(metric.vgpu));
  return json;
}

}  // namespace kw::catalog
