// One run of one module: bind, select, compile, instantiate, make inputs, run, report. A candidate
// that does not compile or fails on the device is a report, because callers learn from it; Errors
// are left for the user's input and the machine. Counters and times come from extra runs after the
// first, so they do not disturb its checks; the cost is a second run. Times need a GPU and counters
// the virtual GPU, so a request that its device cannot serve is refused before anything is
// compiled. Memory is checked before inputs are made, because a machine without memory kills the
// process instead of returning an Error.
#include "single_run/run_module.h"

#include <fmt/core.h>

#include <algorithm>

#include "arch/arch.h"
#include "machine/best_image.h"
#include "os/files.h"
#include "os/interrupt.h"
#include "os/memory.h"
#include "tensor/npy.h"

namespace kw::single_run {

namespace {

void report_progress(const Progress& progress, const std::string& what) {
  if (progress) progress(what);
}

bool is_written(const kernel::Buffer& buffer) {
  return buffer.role == kernel::Role::Output || buffer.role == kernel::Role::Inout;
}

// Host memory: the inputs and their copies. The virtual GPU also keeps shadow memory there.
Status check_fits(const RunReport& report) {
  if (!report.device.is_virtual && report.device.memory_bytes > 0) {
    KW_TRY(binding::check_memory(report.program, static_cast<uint64_t>(report.device.memory_bytes),
                                 1, report.device.name));
  }
  return binding::check_memory(report.program, os::available_memory(),
                               report.device.is_virtual ? 3 : 2, "this machine's memory");
}

ports::RunOptions run_options(const RunRequest& request) {
  return ports::RunOptions{.check_order = request.check_order,
                           .threads = request.threads,
                           .timeout_seconds = request.timeout_seconds,
                           .misalign_bytes = 1};  // every buffer at its minimum alignment
}

void collect_outputs(RunReport* report) {
  ports::RunOutcome& outcome = *report->outcome;
  if (outcome.buffers.size() != report->program.buffers.size()) return;
  for (size_t i = 0; i < outcome.buffers.size(); ++i) {
    const kernel::Buffer& buffer = report->program.buffers[i];
    const Result<int64_t> count = tensor::element_count(buffer.shape);
    if (!is_written(buffer) || !buffer.present || !count) continue;
    const int64_t bytes = *count * tensor::dtype_size(buffer.dtype);
    if (static_cast<int64_t>(outcome.buffers[i].data.size()) != bytes) continue;
    outcome.buffers[i].shape = buffer.shape;
    report->outputs.push_back(binding::summarise(buffer.name, outcome.buffers[i]));
  }
}

Status count(ports::Device& device, ports::ImageId image,
             const std::vector<tensor::HostTensor>& inputs, const RunRequest& request,
             RunReport* report) {
  ports::RunOptions options = run_options(request);
  options.counters = true;
  options.misalign_bytes = 0;  // memory transactions as for buffers of their own
  options.check_order = false;
  ports::RunOutcome counted = KW_TRY(device.run(image, report->program, inputs, options));
  report->counters = std::move(counted.counters);
  return Done{};
}

Status take_time(ports::Device& device, ports::ImageId image,
                 const std::vector<tensor::HostTensor>& inputs, const RunRequest& request,
                 RunReport* report) {
  clock::MeasureOptions options;
  options.protocol.timeout_seconds = request.timeout_seconds;
  clock::MeasureOutcome timed =
      KW_TRY(clock::measure(device, {{image, &report->program, {&inputs}}}, options));
  if (timed.status == ports::RunStatus::Completed && !timed.measurements.empty()) {
    report->timing = std::move(timed.measurements[0]);
  } else {
    report->timing_problem =
        fmt::format("{}: {}", ports::run_status_name(timed.status), timed.message);
  }
  return Done{};
}

Status refuse_impossible(const RunRequest& request, const ports::DeviceInfo& device) {
  if (request.time && device.is_virtual) {
    return environment_error("--time: times come only from a real GPU, and this is the " +
                             device.name + "; --counters says what the kernels do there");
  }
  if ((request.counters || request.check_order) && !device.is_virtual) {
    return input_error("{}: only the virtual GPU does this; use --device vgpu",
                       request.counters ? "--counters" : "--check-order");
  }
  return Done{};
}

// Adds the file name to a message like "line 5: …".
template <typename T>
Result<T> in_module(const kernel::Module& module, Result<T> result) {
  if (result) return result;
  return std::move(result).error().context(module.file_name);
}

// Everything up to a compiled image. False when the candidate does not compile.
Result<bool> prepare(const kernel::Module& module, const RunRequest& request,
                     ports::Compiler& compiler, const binding::NamedTensors& files,
                     const Progress& progress, RunReport* report) {
  const std::string name = request.target.empty() ? report->device.target : request.target;
  const arch::Target target = KW_TRY(arch::find_target(name));
  report->bindings =
      KW_TRY(binding::bind_names(module, request.bindings, files, target, report->device));
  report->selection = KW_TRY(in_module(module, kernel::select(module, report->bindings)));
  report_progress(progress, "compiling " + module.file_name);
  machine::BestImage image(compiler, report->device.image);
  ports::CompileOutcome compiled = KW_TRY(image.compile(ports::compile_request(
      module, report->selection, report->bindings.target.name, request.timeout_seconds)));
  report->compile_failed = std::move(compiled.failed);
  report->compiled = std::move(compiled.compiled);
  report->notes = compiler.notes();
  if (!image.note().empty()) report->notes.push_back("the GPU is given PTX: " + image.note());
  return report->compiled.has_value();
}

}  // namespace

bool RunReport::passed() const {
  if (!outcome || outcome->status != ports::RunStatus::Completed) return false;
  for (const record::Finding& finding : outcome->findings) {
    if (finding.certainty == record::Certainty::Certain) return false;
  }
  return timing_problem.empty();
}

std::vector<kernel::KernelInfo> kernel_infos(const ports::Compiled& compiled) {
  std::vector<kernel::KernelInfo> infos;
  for (const ports::CompiledKernel& k : compiled.kernels) {
    infos.push_back({k.expression, k.entry, k.signature, k.resources.registers,
                     std::max<int64_t>(k.resources.static_shared, 0), k.resources.max_threads});
  }
  return infos;
}

namespace {

// NaN in an output may come from the user's file, and need not be an error of the kernel.
void note_special_values(const binding::NamedTensors& files, const binding::InputSources& sources,
                         RunReport* report) {
  for (const auto& [name, tensor] : files) {
    const binding::TensorSummary summary = binding::summarise(name, tensor);
    if (summary.nans == 0 && summary.infinities == 0) continue;
    report->notes.push_back(
        fmt::format("input {} holds {} NaN and {} infinities among {} values ({}): outputs that "
                    "depend on them may hold NaN or infinities too",
                    name, summary.nans, summary.infinities, summary.values, sources.at(name).file));
  }
}

}  // namespace

Result<RunReport> run_module(const kernel::Module& module, const RunRequest& request,
                             ports::Compiler& compiler, ports::Device& device,
                             const Progress& progress) {
  RunReport report;
  report.device = device.info();
  report.compiler = compiler.name();
  KW_TRY(refuse_impossible(request, report.device));
  const binding::NamedTensors files = KW_TRY(binding::read_input_files(module, request.inputs));
  const bool compiled = KW_TRY(prepare(module, request, compiler, files, progress, &report));
  KW_TRY(os::check_interrupted());
  if (!compiled) return report;
  note_special_values(files, request.inputs, &report);
  report.program =
      KW_TRY(in_module(module, kernel::instantiate(module, report.bindings, report.selection,
                                                   kernel_infos(*report.compiled))));
  KW_TRY(check_fits(report));
  report_progress(progress, "making inputs");
  const std::vector<tensor::HostTensor> inputs =
      KW_TRY(binding::make_inputs(report.program, request.inputs, files, request.seed));
  const Result<ports::ImageId> loaded = device.load(*report.compiled);
  if (!loaded && loaded.error().blame != Blame::Input) return loaded.error();
  report.compiled->image.clear();
  if (!loaded) {
    report.outcome.emplace();
    report.outcome->status = ports::RunStatus::Refused;
    report.outcome->message = loaded.error().message;
    return report;
  }
  const ports::ImageId image = *loaded;
  report_progress(progress, "running on " + report.device.name);
  report.outcome = KW_TRY(device.run(image, report.program, inputs, run_options(request)));
  KW_TRY(os::check_interrupted());
  const bool healthy = report.outcome->status == ports::RunStatus::Completed;
  if (healthy) collect_outputs(&report);
  if (request.counters && healthy) KW_TRY(count(device, image, inputs, request, &report));
  if (request.time && healthy) KW_TRY(take_time(device, image, inputs, request, &report));
  return report;
}

Result<std::vector<std::string>> write_outputs(const RunReport& report, const std::string& folder) {
  KW_TRY(os::make_directories(folder));
  std::vector<std::string> paths;
  for (const binding::TensorSummary& output : report.outputs) {
    for (size_t i = 0; i < report.program.buffers.size(); ++i) {
      if (report.program.buffers[i].name != output.name) continue;
      paths.push_back(folder + "/" + output.name + ".npy");
      KW_TRY(tensor::write_npy(paths.back(), report.outcome->buffers[i]));
    }
  }
  return paths;
}

}  // namespace kw::single_run
