// Advice about a kernel needs numbers from many sources: compiler, launch plan, graph, PTX, virtual
// GPU, machine code, profiler. None of them is always available. So each source adds the metrics it
// knows, a missing source leaves a note, and nothing is guessed. Counts come from a smaller shape
// and are scaled; only the geometry of the timed shape is used. Estimated and measured launch times
// are never mixed in one call. Requiring a profiler was the alternative; then most machines could
// give no advice. The cost: the reader must look at the source of each number.
#include "evidence/evidence.h"

#include <fmt/core.h>

#include <algorithm>

#include "catalog/catalog.h"
#include "evidence/evidence_build.h"
#include "gate/programs.h"
#include "kernel/methods.h"
#include "os/interrupt.h"
#include "profile/sources.h"
#include "timing/counting.h"

namespace kw::evidence {
namespace {

/// One collection in progress: each source adds what it knows.
class Gathering {
 public:
  Gathering(const EvidenceRequest& request, const timing::BenchTools& tools,
            const single_run::Progress& progress)
      : request_(request), tools_(tools), progress_(progress) {}

  Result<Evidence> run() {
    report_progress("compiling");
    build_ = KW_TRY(build_examined(request_, tools_, true));
    out_.dims = build_.dims;
    out_.target = build_.fixed.target;
    out_.compiler = build_.best().compiler;
    out_.claimed = kernel::active_methods(build_.module, build_.tunes());
    out_.work = timing::work_at(*request_.task, build_.graph);
    KW_TRY(find_rates());
    for (const kernel::Launch& launch : build_.program.launches) add_launch(launch);
    if (request_.count) KW_TRY(count());
    KW_TRY(show_code());
    KW_TRY(ask_hardware());
    finish();
    return std::move(out_);
  }

 private:
  void report_progress(const std::string& what) const {
    if (progress_) progress_(what);
  }
  void note(std::string text) { notes_.push_back(std::move(text)); }

  Status find_rates() {
    ports::Device* gpu = tools_.verify.gpu;
    rates_ = request_.calibration != nullptr ? *request_.calibration : timing::reference_gpu();
    if (request_.calibration == nullptr && gpu != nullptr && tools_.calibrate) {
      auto measured =
          timing::calibration_of(gpu->info(), tools_.calibrate, timing::Freshness::Kept);
      KW_TRY(os::check_interrupted());
      if (measured)
        rates_ = std::move(measured->calibration);
      else
        note("the GPU's own rates are not known: " + measured.error().message);
    }
    out_.rates_of = rates_.gpu;
    out_.floor = clock::floor_of(out_.work, rates_);
    return Done{};
  }

  /// Adds what is known without running anything.
  void add_launch(const kernel::Launch& launch) {
    LaunchEvidence one;
    one.kernel = launch.kernel;
    const profile::LaunchShape shape{static_cast<int64_t>(launch.grid.count()),
                                     static_cast<int>(launch.block.count()), launch.shared_bytes,
                                     build_.fixed.sms};
    one.metrics = profile::metrics_of_launch(build_.resources(launch), shape, build_.fixed.target);
    one.metrics.kernel = launch.kernel;
    if (build_.ptx) one.metrics.merge(profile::metrics_of_ptx(build_.ptx->image, launch.entry));
    one.metrics.merge(profile::metrics_of_graph(build_.graph));
    one.metrics.set_flag("allows_lower_precision", request_.task->precision.allow_tf32,
                         profile::MetricSource::Static, "the task's precision");
    out_.launches.push_back(std::move(one));
  }

  Status count() {
    report_progress("counting on the virtual GPU");
    const auto at = timing::counting_shape(*request_.task, build_.dims);
    if (!at) {
      note("nothing was counted: " + at.error().message);
      return Done{};
    }
    const auto counted = KW_TRY(count_at(*at));
    if (counted.empty()) return Done{};
    out_.counted_at = task::dims_text(at->small.dims);
    out_.scale = at->scale;
    const std::vector<timing::CostLaunch> launches = with_resources(counted);
    timing::CostRequest ask;
    ask.launches = launches;
    ask.scale = at->scale;
    ask.target = build_.fixed.target;
    ask.gpu = &rates_;
    const timing::Cost cost = timing::cost_of(ask);
    const bool one_to_one = counted.size() == out_.launches.size();
    if (!one_to_one)
      note("the smaller shape launches other kernels: its counts are used for the first launch");
    for (size_t i = 0; i < out_.launches.size(); ++i) {
      LaunchEvidence& launch = out_.launches[i];
      launch.us = cost.launches[i].us;
      if (one_to_one || i == 0) add_counters(launches[i].counted, launch);
    }
    return Done{};
  }

  /// Counts at the smaller shape; empty when the virtual GPU could not run it.
  Result<std::vector<record::LaunchCounters>> count_at(const timing::CountingShape& at) {
    std::vector<record::LaunchCounters> nothing;
    ports::Device& device = *tools_.verify.virtual_gpu;
    gate::Programs programs(build_.module, *tools_.verify.compiler, device, build_.fixed,
                            request_.timeout_seconds);
    const gate::Built built =
        KW_TRY(programs.build(build_.matching, *request_.task, at.small.graph, at.small.dims));
    if (!built.ready) {
      note(fmt::format("nothing was counted at {}: {}", task::dims_text(at.small.dims),
                       built.failed               ? "it does not compile for that shape"
                       : built.not_loaded.empty() ? built.not_served
                                                  : built.not_loaded));
      return nothing;
    }
    ports::RunOptions options;
    options.counters = true;
    options.threads = request_.threads;
    options.timeout_seconds = request_.timeout_seconds;
    options.max_warp_instructions = timing::counting_budget(at.small);
    const ports::RunOutcome outcome = KW_TRY(device.run(
        built.ready->image, built.ready->program,
        gate::program_inputs(built.ready->program, build_.matching, at.inputs), options));
    if (outcome.status == ports::RunStatus::Completed) return outcome.counters;
    note(fmt::format("nothing was counted: the virtual GPU {} it{}",
                     ports::run_status_name(outcome.status),
                     outcome.message.empty() ? "" : ": " + outcome.message));
    return nothing;
  }

  std::vector<timing::CostLaunch> with_resources(
      const std::vector<record::LaunchCounters>& counted) const {
    std::vector<timing::CostLaunch> launches = timing::cost_launches(counted, build_.program);
    for (size_t i = 0; i < launches.size(); ++i) {
      const ports::KernelResources resources = build_.resources(build_.program.launches[i]);
      launches[i].registers = resources.registers;
      launches[i].shared_bytes += std::max<int64_t>(resources.static_shared, 0);
    }
    return launches;
  }

  void add_counters(const record::CounterValues& values, LaunchEvidence& launch) const {
    record::LaunchCounters counters;
    counters.kernel = launch.kernel;
    counters.total = values;
    profile::MetricSet counted = profile::metrics_of_counters(counters);
    profile::scale_counts(counted, out_.scale, out_.counted_at);
    // The geometry of the smaller shape is dropped; that of the timed shape is already known.
    for (const auto& [id, known] : counted.all()) {
      if (known.source == profile::MetricSource::Vgpu)
        launch.counted.set(id, known.value, known.source, known.from);
    }
    launch.metrics.merge(launch.counted);
  }

  Status show_code() {
    profile::Examined& out = out_.examined;
    if (!request_.show_code) return Done{};
    report_progress("reading the machine code");
    auto functions = code_of(build_, request_, &out.no_sass);
    if (!functions) return functions.error();
    if (functions->has_value()) out.sass.swap(**functions);
    return Done{};
  }

  Status ask_hardware() {
    report_progress("running the profiler");
    Hardware hardware = KW_TRY(read_hardware(build_, request_, tools_));
    profile::Examined& out = out_.examined;
    out.counters = hardware.counters;
    out.no_counters = std::move(hardware.problem);
    out.ncu_report = std::move(hardware.report);
    // Estimated and measured times must not be compared with each other.
    bool all = hardware.counters;
    for (const auto& one : hardware.launches) all = all && one && one->knows("duration_us");
    for (size_t i = 0; i < hardware.launches.size(); ++i) {
      LaunchEvidence& launch = out_.launches[i];
      if (!hardware.launches[i]) continue;
      launch.metrics.merge(*hardware.launches[i]);
      if (!all) continue;
      launch.us = *hardware.launches[i]->get("duration_us");
      launch.measured = true;
    }
    if (hardware.counters && !all) note("the profile does not have all launches of the call");
    return Done{};
  }

  void finish() {
    std::vector<profile::LaunchMetrics> launches;
    for (LaunchEvidence& launch : out_.launches) {
      launch.metrics.derive();
      launches.push_back({launch.metrics, launch.us});
    }
    out_.dearest = profile::longest_launch(launches);
    out_.call = profile::metrics_of_call(launches);
    const std::optional<double> us = tools_.verify.gpu != nullptr ? request_.us : std::nullopt;
    profile::CallFacts facts;
    facts.bytes_min = out_.work.bytes();
    facts.output_bytes = out_.work.write_bytes;
    facts.launches = static_cast<int>(build_.program.launches.size());
    facts.launch_us = rates_.launch_us;
    facts.call_us = us.value_or(out_.call.get("duration_us").value_or(0));
    profile::add_call_facts(out_.call, facts);
    profile::Examined& out = out_.examined;
    out.roofline = profile::roofline(out_.call, time_floor(), ceilings(), us);
    for (const kernel::Launch& launch : build_.program.launches) {
      out.launches.push_back(fmt::format("{} grid({}, {}, {}) block({}, {}, {}) shared({})",
                                         launch.kernel, launch.grid.x, launch.grid.y, launch.grid.z,
                                         launch.block.x, launch.block.y, launch.block.z,
                                         launch.shared_bytes));
    }
    if (out_.launches.empty()) return;
    out.metrics = out_.launches[out_.dearest].metrics;
    // These metrics are of the whole call, for any launch.
    for (const char* id : {"traffic_ratio", "write_ratio", "launches", "launch_overhead_pct"}) {
      if (const profile::Known* known = out_.call.find(id))
        out.metrics.set(id, known->value, known->source, known->from);
    }
    out.metrics.notes.insert(out.metrics.notes.end(), notes_.begin(), notes_.end());
  }

  profile::TimeFloor time_floor() const {
    profile::TimeFloor floor;
    floor.compute_us = out_.floor.compute_us;
    floor.memory_us = out_.floor.memory_us;
    floor.launch_us = rates_.launch_us;
    return floor;
  }

  profile::Ceilings ceilings() const {
    const clock::Work& work = out_.work;
    return profile::Ceilings{
        .tera_flops = rates_.peak(work.tensor_flops > 0 ? work.product : work.other),
        .fp32_tera = rates_.peak("fp32", "fma"),
        .gigabytes = out_.floor.bandwidth,
        .launch_us = rates_.launch_us,
    };
  }

  const EvidenceRequest& request_;
  const timing::BenchTools& tools_;
  const single_run::Progress& progress_;
  ExaminedBuild build_;
  record::Calibration rates_;
  std::vector<std::string> notes_;
  Evidence out_;
};

}  // namespace

Result<Evidence> gather_evidence(const EvidenceRequest& request, const timing::BenchTools& tools,
                                 const single_run::Progress& progress) {
  return Gathering(request, tools, progress).run();
}

Result<profile::Examined> examine_module(const EvidenceRequest& request,
                                         const timing::BenchTools& tools,
                                         const single_run::Progress& progress) {
  Evidence evidence = KW_TRY(gather_evidence(request, tools, progress));
  return std::move(evidence.examined);
}

Result<std::optional<std::vector<profile::SassFunction>>> machine_code(
    const EvidenceRequest& request, const timing::BenchTools& tools, std::string* why) {
  std::string reason;
  const ExaminedBuild build = KW_TRY(build_examined(request, tools, false));
  return code_of(build, request, why != nullptr ? why : &reason);
}

profile::Plan plan_for(const Evidence& evidence, const task::Task& task) {
  const profile::Examined& examined = evidence.examined;
  profile::PlanInput input{
      examined.metrics, examined.roofline, evidence.target,
      profile::fingerprint(task::task_hash(task), evidence.target, examined.roofline.bottleneck),
      evidence.claimed};
  return profile::plan_methods(catalog::methods(), input);
}

}  // namespace kw::evidence
