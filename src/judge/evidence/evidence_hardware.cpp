#include <fmt/core.h>

#include <algorithm>

#include "compile/search.h"
#include "evidence/evidence_build.h"
#include "evidence/run_ncu.h"
#include "gate/programs.h"
#include "inputs/families.h"
#include "os/files.h"
#include "profile/ncu.h"

namespace kw::evidence {
namespace {

constexpr const char* kNoProfiler =
    "Nsight Compute (ncu) was not found: install nsight-compute or a CUDA toolkit, and set "
    "$CUDA_HOME or PATH";

/// Why no profiler can be run; "" when one can.
std::string no_profiler(const EvidenceRequest& request, const timing::BenchTools& tools,
                        const std::string& ncu) {
  if (!request.hardware) return "the profiler was not used";
  if (tools.verify.gpu == nullptr) return "no GPU was used";
  return ncu.empty() ? kNoProfiler : "";
}

/// The metrics of each launch in the text. The first Error when it has none for any launch.
Result<Hardware> read_text(const ExaminedBuild& build, const std::string& text,
                           const std::string& log) {
  Hardware hardware;
  std::optional<Error> first;
  for (const kernel::Launch& launch : build.program.launches) {
    auto metrics = profile::import_ncu(text, launch.kernel, log);
    hardware.launches.emplace_back();
    if (metrics) {
      hardware.launches.back() = std::move(metrics).value();
      hardware.counters = true;
    } else if (!first) {
      first = std::move(metrics).error();
    }
  }
  if (!hardware.counters && first) return *first;
  return hardware;
}

Result<NcuProfile> ask_profiler(const ExaminedBuild& build, const EvidenceRequest& request,
                                const std::string& ncu) {
  const auto inputs =
      KW_TRY(inputs::draw_inputs(*request.task, build.graph, build.dims, "normal", 1));
  const ports::InputViews views = gate::program_inputs(build.program, build.matching, inputs);
  NcuRequest ask;
  ask.ncu = ncu;
  ask.compiled = &build.best();
  ask.program = &build.program;
  ask.inputs = &views;
  ask.report = request.report;
  ask.timeout_seconds = request.profiler_seconds;
  return profile_call(ask);
}

/// Writes the profiler's output beside the report, if one is kept. Returns its path or a phrase.
std::string keep_log(const NcuProfile& profile, const EvidenceRequest& request) {
  const std::string log = request.report + ".log";
  if (request.report.empty() || !os::write_file(log, profile.text, os::Sync::No))
    return "what ncu printed";
  return log;
}

}  // namespace

Result<Hardware> read_hardware(const ExaminedBuild& build, const EvidenceRequest& request,
                               const timing::BenchTools& tools) {
  if (!request.imported.empty()) return read_text(build, request.imported, request.imported_name);
  const std::string ncu = request.ncu ? *request.ncu : compile::find_cuda_program("ncu");
  Hardware hardware;
  hardware.problem = no_profiler(request, tools, ncu);
  if (!hardware.problem.empty()) return hardware;
  NcuProfile profile = KW_TRY(ask_profiler(build, request, ncu));
  hardware.problem = profile.problem;
  hardware.report = profile.report;
  if (!hardware.problem.empty()) return hardware;
  auto read = read_text(build, profile.text, "what ncu printed");
  if (!read) read = read_text(build, profile.text, keep_log(profile, request));
  if (!read) {
    hardware.problem = read.error().message;
    return hardware;
  }
  read->report = profile.report;
  return std::move(read).value();
}

}  // namespace kw::evidence
