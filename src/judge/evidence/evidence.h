// All there is to know about one module at one shape: counters of the virtual GPU, what compiler,
// launch plan and graph say, machine code, hardware counters where there are some, and the roofline
// of the whole call. What cannot be had is said in words and stays unknown; nothing is judged here.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compile/disassemble.h"
#include "profile/call.h"
#include "profile/examined.h"
#include "profile/plan.h"
#include "timing/bench.h"

namespace kw::evidence {

struct EvidenceRequest {
  std::string module_text, module_name = "module.cu";
  const task::Task* task = nullptr;      // must outlive the call
  task::Dims dims;                       // empty: the task's first benchmark shape
  std::map<std::string, int64_t> tunes;  // missing: the first values
  std::string target;                    // "" = the device's
  std::optional<double> us;              // of a call, by the clock; nothing: it was not measured
  /// Rates for the floor; null: those of the GPU here, or without one of the reference GPU.
  const record::Calibration* calibration = nullptr;

  std::string report;           // where the profiler's report goes; "" = not kept
  bool hardware = true;         // false: the profiler is not asked
  std::string imported;         // a profile made before, as text; then none is made
  std::string imported_name;    // what it is called, for Errors
  bool count = true;            // false: the virtual GPU is not asked
  bool show_code = true;        // false: no machine code
  double timeout_seconds = 60;  // of each compile and run
  double profiler_seconds = 120;
  int threads = 0;
  std::optional<std::string> ncu;                     // nothing: looked for; "": there is none
  std::optional<compile::Disassembler> disassembler;  // likewise
};

/// One launch of the call.
struct LaunchEvidence {
  std::string kernel;     // as written: "rms_norm<256, 2>"
  double us = 0;          // by the profiler, else estimated
  bool measured = false;  // by the profiler
  profile::MetricSet metrics;
  profile::MetricSet counted;  // what the virtual GPU alone says, to stand beside a profiler's
};

struct Evidence {
  profile::Examined examined;
  std::vector<LaunchEvidence> launches;
  size_t dearest = 0;       // whose metrics `examined` has
  profile::MetricSet call;  // of all launches together: what the roofline was made of
  task::Dims dims;
  clock::Work work;
  clock::Floor floor;
  std::string rates_of;    // whose rates the floor is made of
  std::string counted_at;  // dims; "" when nothing was counted
  double scale = 1;        // from these to `dims`
  arch::Target target{};
  std::string compiler;
  std::vector<std::string> claimed;  // methods the module says it has at this shape
};

/// Errors: a module or a shape that cannot be used (Blame::Input), the machine's.
Result<Evidence> gather_evidence(const EvidenceRequest& request, const timing::BenchTools& tools,
                                 const single_run::Progress& progress = {});
/// The part that optimising needs.
Result<profile::Examined> examine_module(const EvidenceRequest& request,
                                         const timing::BenchTools& tools,
                                         const single_run::Progress& progress = {});

/// Machine code alone, of all kernels that the shape needs. Nothing when no tool here can show it;
/// `why` says so in words.
Result<std::optional<std::vector<profile::SassFunction>>> machine_code(
    const EvidenceRequest& request, const timing::BenchTools& tools, std::string* why = nullptr);

/// What the catalogue would try on it, by the evidence alone.
profile::Plan plan_for(const Evidence& evidence, const task::Task& task);

}  // namespace kw::evidence
