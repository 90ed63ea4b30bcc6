// Everything known about one module at one shape: counters of the virtual GPU, facts from compiler,
// launch plan and graph, machine code, hardware counters if available, and the roofline of the
// call. What is missing stays unknown and is explained. Nothing is judged here.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compile/disassemble.h"
#include "profile/call.h"
#include "profile/examined.h"
#include "profile/method_plan.h"
#include "timing/bench.h"

namespace kw::evidence {

struct EvidenceRequest {
  std::string module_text, module_name = "module.cu";
  const task::Task* task = nullptr;      // must outlive the call
  task::Dims dims;                       // empty: the task's first benchmark shape
  std::map<std::string, int64_t> tunes;  // missing ones: the first values
  std::string target;                    // "": the device's
  std::optional<double> us;              // of a call, by the clock; not set: not measured
  /// Rates for the floor; null: those of the GPU here, or of the reference GPU.
  const record::Calibration* calibration = nullptr;

  std::string report;           // path of the profiler's report; "": not kept
  bool hardware = true;         // false: do not run the profiler
  std::string imported;         // text of an existing profile; then none is made
  std::string imported_name;    // its name, for Errors
  bool count = true;            // false: do not use the virtual GPU
  bool show_code = true;        // false: no machine code
  double timeout_seconds = 60;  // for each compile and run
  double profiler_seconds = 120;
  int threads = 0;
  std::optional<std::string> ncu;                     // not set: search for it; "": there is none
  std::optional<compile::Disassembler> disassembler;  // the same
};

/// One launch of the call.
struct LaunchEvidence {
  std::string kernel;     // as written: "rms_norm<256, 2>"
  double us = 0;          // from the profiler, otherwise estimated
  bool measured = false;  // by the profiler
  profile::MetricSet metrics;
  profile::MetricSet counted;  // only from the virtual GPU, to compare with a profiler's
};

struct Evidence {
  profile::Examined examined;
  std::vector<LaunchEvidence> launches;
  size_t dearest = 0;       // the longest launch; `examined` has its metrics
  profile::MetricSet call;  // of all launches together; the roofline uses it
  task::Dims dims;
  clock::Work work;
  clock::Floor floor;
  std::string rates_of;    // the GPU whose rates the floor uses
  std::string counted_at;  // dims; "" when nothing was counted
  double scale = 1;        // from these dims to `dims`
  arch::Target target{};
  std::string compiler;
  std::vector<std::string> claimed;  // methods that the module claims at this shape
};

/// Errors: a module or a shape that cannot be used (Blame::Input), or the machine.
Result<Evidence> gather_evidence(const EvidenceRequest& request, const timing::BenchTools& tools,
                                 const single_run::Progress& progress = {});
/// The part that optimising needs.
Result<profile::Examined> examine_module(const EvidenceRequest& request,
                                         const timing::BenchTools& tools,
                                         const single_run::Progress& progress = {});

/// Only the machine code of all kernels that the shape launches. Not set when no tool here can show
/// it; `why` gives the reason.
Result<std::optional<std::vector<profile::SassFunction>>> machine_code(
    const EvidenceRequest& request, const timing::BenchTools& tools, std::string* why = nullptr);

/// The methods that the catalogue would try, from the evidence alone.
profile::Plan plan_for(const Evidence& evidence, const task::Task& task);

}  // namespace kw::evidence
