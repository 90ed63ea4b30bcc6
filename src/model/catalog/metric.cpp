#include "catalog/metric.h"

#include "core/json_writer.h"

namespace kw::catalog {
namespace {

constexpr const char* kUnitNames[] = {"%", "us", "bytes", "count", "ratio", "flag"};
constexpr const char* kBetterNames[] = {"high", "low", "neither"};

}  // namespace

const char* unit_name(Unit unit) { return kUnitNames[static_cast<size_t>(unit)]; }

void fields(auto& v, Metric& m) {
  v("id", m.id)("title", m.title)("unit", computed(unit_name(m.unit)));
  v("better", m.better, kBetterNames)("ncu", m.ncu)("labels", m.labels)("vgpu", m.vgpu);
}

Json to_json(const Metric& metric) { return record_json(metric); }

}  // namespace kw::catalog
