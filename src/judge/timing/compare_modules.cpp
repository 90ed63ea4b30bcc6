// Users compare two kernels without a reference, so neither can be verified. This file only says
// which is faster and whether their outputs differ; the report has "verified": false. Both modules
// get the same two sets of inputs. Each is run first, and timed calls must repeat the bits of that
// run, so a kernel cannot skip work while it is timed. Calls of both alternate in three worker
// processes, and the ratio comes from pairs. Timing one after the other was the alternative; clock
// rates drift in between. The cost: both must fit on the GPU together.
#include "timing/compare_modules.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "arch/arch.h"
#include "core/json_writer.h"
#include "machine/best_image.h"
#include "machine/devices.h"
#include "os/interrupt.h"
#include "sandbox/sandbox.h"

namespace kw::timing {
namespace {

using ports::RunStatus;

constexpr int kCompareWorkers = 3;
constexpr size_t kCompareSets = 2;

/// One of the two modules, ready to run.
struct Ready {
  kernel::Program program;
  ports::ImageId image = 0;
  std::vector<std::vector<tensor::HostTensor>> inputs;   // one per set
  std::vector<std::vector<tensor::HostTensor>> outputs;  // one per set, parallel to the buffers
  clock::AuditPlan audit;
};

bool is_output(const kernel::Buffer& buffer) {
  return buffer.present &&
         (buffer.role == kernel::Role::Output || buffer.role == kernel::Role::Inout);
}

Status build(const kernel::Module& module, const CompareRequest& request, ports::Compiler& compiler,
             ports::Device& device, ComparedModule& report, Ready& ready) {
  const ports::DeviceInfo info = device.info();
  const arch::Target target =
      KW_TRY(arch::find_target(request.target.empty() ? info.target : request.target));
  const binding::NamedTensors files = KW_TRY(binding::read_input_files(module, request.inputs));
  const kernel::Bindings bindings =
      KW_TRY(binding::bind_names(module, request.bindings, files, target, info));
  const kernel::Selection selection = KW_TRY(kernel::select(module, bindings));
  const ports::CompileRequest compile =
      ports::compile_request(module, selection, target.name, request.timeout_seconds);
  machine::BestImage image(compiler, info.image);
  ports::CompileOutcome compiled = KW_TRY(image.compile(compile));
  if (!compiled.compiled) {
    report.problem = "it does not compile";
    report.compile_failed = std::move(compiled.failed);
    return Done{};
  }
  ready.program = KW_TRY(kernel::instantiate(module, bindings, selection,
                                             single_run::kernel_infos(*compiled.compiled)));
  ready.image = KW_TRY(device.load(*compiled.compiled));
  for (size_t set = 0; set < kCompareSets; ++set) {
    ready.inputs.push_back(KW_TRY(
        binding::make_inputs(ready.program, request.inputs, files, request.seed + 1000 * set)));
  }
  return Done{};
}

/// Runs every set. Timed calls must give the same outputs again.
Status run_sets(const CompareRequest& request, ports::Device& device, uint64_t hash_seed,
                ComparedModule& report, Ready& ready) {
  ports::RunOptions options;
  options.timeout_seconds = request.timeout_seconds;
  for (const auto& inputs : ready.inputs) {
    ports::RunOutcome outcome = KW_TRY(device.run(ready.image, ready.program, inputs, options));
    for (const record::Finding& finding : outcome.findings) report.findings.push_back(finding);
    const auto certain = std::find_if(outcome.findings.begin(), outcome.findings.end(),
                                      [](const record::Finding& finding) {
                                        return finding.certainty == record::Certainty::Certain;
                                      });
    if (certain != outcome.findings.end()) report.problem = certain->message;
    if (outcome.status != RunStatus::Completed) {
      report.problem =
          fmt::format("{}: {}", ports::run_status_name(outcome.status), outcome.message);
    }
    if (!report.problem.empty()) return Done{};
    ready.audit.expected.push_back(
        clock::expected_hashes(ready.program, outcome.buffers, hash_seed));
    ready.outputs.push_back(std::move(outcome.buffers));
  }
  options.copy_outputs = false;
  const ports::RunOutcome first =
      KW_TRY(device.run(ready.image, ready.program, ready.inputs[0], options));
  const ports::RunOutcome again =
      KW_TRY(device.run(ready.image, ready.program, ready.inputs[0], options));
  ready.audit.deterministic = first.hashes == again.hashes;
  if (!ready.audit.deterministic) ready.audit.expected.clear();
  return Done{};
}

/// How the outputs of the two modules differ, as text.
std::string difference(const Ready& a, const Ready& b) {
  std::vector<size_t> from_a;
  std::vector<size_t> from_b;
  for (size_t i = 0; i < a.program.buffers.size(); ++i)
    if (is_output(a.program.buffers[i])) from_a.push_back(i);
  for (size_t i = 0; i < b.program.buffers.size(); ++i)
    if (is_output(b.program.buffers[i])) from_b.push_back(i);
  if (from_a.size() != from_b.size()) return "they return different numbers of tensors";
  for (size_t set = 0; set < a.outputs.size(); ++set) {
    for (size_t i = 0; i < from_a.size(); ++i) {
      const tensor::HostTensor& x = a.outputs[set][from_a[i]];
      const tensor::HostTensor& y = b.outputs[set][from_b[i]];
      const std::string& name = a.program.buffers[from_a[i]].name;
      if (x.dtype != y.dtype || x.shape != y.shape)
        return fmt::format("'{}' differs in dtype or shape", name);
      if (x.data == y.data) continue;
      const auto count = static_cast<int64_t>(x.data.size()) / tensor::dtype_size(x.dtype);
      double largest = 0;
      int64_t different = 0;
      for (int64_t e = 0; e < count; ++e) {
        const double distance = std::abs(tensor::get_element(x, e) - tensor::get_element(y, e));
        different += !(distance == 0);
        if (distance > largest) largest = distance;
      }
      return fmt::format("{} of {} elements of '{}' differ, by {:.3g} at most", different, count,
                         name, largest);
    }
  }
  return "the same bits";
}

Status time_both(const CompareRequest& request, ports::Device& device,
                 const std::function<void()>& renew, const single_run::Progress& progress,
                 uint64_t hash_seed, Ready (&ready)[2], CompareReport& report) {
  std::vector<ports::TimedProgram> programs;
  clock::MeasureOptions options;
  for (const Ready& one : ready) {
    ports::TimedProgram program{one.image, &one.program, {}};
    for (const auto& set : one.inputs) program.pool.push_back(&set);
    programs.push_back(std::move(program));
    options.audits.push_back(one.audit);
  }
  options.protocol.hash_seed = hash_seed;
  options.protocol.timeout_seconds = request.timeout_seconds;
  options.rule.min_samples = request.quick ? 40 : 80;
  if (request.quick) {
    options.rule.max_samples = 40;
    options.batch_samples = 20;
  }
  std::vector<clock::Cycle> cycles;
  const int workers = request.quick ? 1 : kCompareWorkers;
  for (int worker = 0; worker < workers; ++worker) {
    KW_TRY(os::check_interrupted());
    if (progress) progress(fmt::format("timing, process {} of {}", worker + 1, workers));
    if (worker > 0 && renew) renew();
    options.protocol.seed = request.seed + 7919 * static_cast<uint64_t>(worker + 1);
    clock::MeasureOutcome outcome = KW_TRY(clock::measure(device, programs, options));
    if (outcome.status != RunStatus::Completed) {
      report.modules[0].problem =
          fmt::format("{}: {}", ports::run_status_name(outcome.status), outcome.message);
      return Done{};
    }
    for (clock::Cycle& cycle :
         clock::cycles_of(outcome.measurements[0], outcome.measurements[1], worker))
      cycles.push_back(std::move(cycle));
    for (int i : {0, 1}) {
      ComparedModule& module = report.modules[i];
      const clock::Measurement& measured = outcome.measurements[static_cast<size_t>(i)];
      if (measured.rejected) module.problem = *measured.rejected;
      clock::extend(module.measurement, measured);
    }
    report.workers = worker + 1;
    if (!report.modules[0].problem.empty() || !report.modules[1].problem.empty()) return Done{};
  }
  report.comparison = clock::compare(cycles);
  return Done{};
}

}  // namespace

Result<CompareReport> compare_modules(const kernel::Module& first, const kernel::Module& second,
                                      const CompareRequest& request, ports::Compiler& compiler,
                                      ports::Device& device, const std::function<void()>& renew,
                                      const single_run::Progress& progress) {
  CompareReport report;
  report.device = device.info();
  report.compiler = compiler.name();
  if (report.device.is_virtual)
    return environment_error("times come only from a real GPU, and this is the " +
                             report.device.name);
  const uint64_t hash_seed = request.seed * 2654435761u + 1;
  Ready ready[2];
  const kernel::Module* modules[] = {&first, &second};
  for (int i : {0, 1}) {
    report.modules[i].name = modules[i]->file_name;
    if (progress) progress("running " + modules[i]->file_name);
    KW_TRY(build(*modules[i], request, compiler, device, report.modules[i], ready[i]));
    if (report.modules[i].problem.empty())
      KW_TRY(run_sets(request, device, hash_seed, report.modules[i], ready[i]));
  }
  if (!report.modules[0].problem.empty() || !report.modules[1].problem.empty()) return report;
  report.outputs = difference(ready[0], ready[1]);
  KW_TRY(time_both(request, device, renew, progress, hash_seed, ready, report));
  return report;
}

Json to_json(const CompareReport& report) {
  JsonWriter v;
  v("modules", json_list(report.modules, [](auto& row, const ComparedModule& module) {
      row("name", module.name)("problem", module.problem, Zero::Omit);
      if (module.compile_failed) row("compile_log", module.compile_failed->log);
      row("findings", module.findings)("timing", module.measurement, Zero::Omit);
    }));
  v("verified", false)("outputs", report.outputs, Zero::Omit);
  v("comparison", report.comparison, Zero::Omit);
  v("unconfined", sandbox::started_unconfined(), Zero::Omit);
  JsonWriter environment(machine::to_json(report.device));
  environment("compiler", report.compiler)("workers", report.workers);
  return v("environment", environment.take()).take();
}

}  // namespace kw::timing
