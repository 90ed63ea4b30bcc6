#include "catalog/metric.h"

#include <iterator>

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

std::optional<Unit> unit_from_name(std::string_view name) {
  for (size_t i = 0; i < std::size(kUnitNames); ++i) {
    if (name == kUnitNames[i]) return static_cast<Unit>(i);
  }
  return std::nullopt;
}

Json to_json(const Metric& metric) {
  Json json = Json::object();
  json.set("id", metric.id).set("title", metric.title).set("unit", unit_name(metric.unit));
  json.set("better", kBetterNames[static_cast<size_t>(metric.better)]);
  json.set("ncu", names_json(metric.ncu)).set("labels", names_json(metric.labels));
  json.set("vgpu", names_json(metric.vgpu));
  return json;
}

}  // namespace kw::catalog
