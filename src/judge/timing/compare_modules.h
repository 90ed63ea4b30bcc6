// `compare` without a reference: runs two modules with the same inputs, compares their outputs and
// times them in pairs. Says which is faster, never that either is right.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "binding/bind.h"
#include "binding/inputs.h"
#include "clock/measure.h"
#include "clock/paired_samples.h"
#include "core/json.h"
#include "core/result.h"
#include "single_run/run_module.h"

namespace kw::timing {

struct CompareRequest {
  binding::BindingRequest bindings;  // of both modules
  binding::InputSources inputs;
  uint64_t seed = 0;
  std::string target;
  double timeout_seconds = 60;
  bool quick = false;
};

struct ComparedModule {
  std::string name;
  std::string problem;  // why it was not timed; "": it was
  std::optional<ports::CompileFailed> compile_failed;
  std::vector<record::Finding> findings;
  std::optional<clock::Measurement> measurement;
};

struct CompareReport {
  ComparedModule modules[2];
  std::optional<clock::Comparison> comparison;  // of the first with the second
  std::string outputs;                          // "the same bits", or how they differ
  ports::DeviceInfo device;
  std::string compiler;
  int workers = 0;

  /// Both ran without a certain finding and were timed.
  bool ok() const { return comparison.has_value(); }
};

/// `renew` ends the device's worker, so the next call starts a new one; may be empty.
Result<CompareReport> compare_modules(const kernel::Module& first, const kernel::Module& second,
                                      const CompareRequest& request, ports::Compiler& compiler,
                                      ports::Device& device, const std::function<void()>& renew,
                                      const single_run::Progress& progress = {});

Json to_json(const CompareReport& report);

}  // namespace kw::timing
