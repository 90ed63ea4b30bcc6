// The evidence about a kernel as files of the run folder: writes and reads roofline.json and
// ncu_top.json. profile computes the numbers.
#pragma once

#include <string>

#include "core/json.h"
#include "core/result.h"
#include "optimize/folder.h"
#include "optimize/optimize_tools.h"

namespace kw::optimize {

struct Evidence {
  profile::MetricSet metrics;
  profile::Roofline roofline;
  bool counters = false;
  std::string no_counters;
};

Evidence evidence_of(const profile::Examined& examined);

/// ncu_top.json: the `count` worst metrics of each axis by the catalogue's triggers, then all.
Json metrics_document(const Evidence& evidence, const std::string& kernel,
                      const std::string& report, int count);
/// Reads the metrics of such documents with their sources.
Result<Evidence> read_evidence(const Json& roofline, const Json& metrics);

/// Writes both files (stamped) and sets their names in `kept`.
Status keep_evidence(Folder& folder, const Evidence& evidence, const std::string& roofline_name,
                     const std::string& metrics_name, Kept& kept);
/// Reads the evidence about a kept kernel.
Result<Evidence> evidence_about(const Folder& folder, const Kept& kept);

}  // namespace kw::optimize
