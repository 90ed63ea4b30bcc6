#include "catalog/metric.h"

#include "core/json_writer.h"

namespace kw::catalog {

const char* unit_name(Unit unit) { return kUnitNames[static_cast<size_t>(unit)]; }

Json to_json(const Metric& metric) { return record_json(metric); }

}  // namespace kw::catalog
