// Turns options of optimize into requests. A run is worked on in many processes, over days. So
// everything that decides its numbers (function, dims, target, precision, seed, …) is stored in
// state.json at setup and read back by later steps. Only --device, --compiler, --threads,
// --timeout and --budget-seconds may be given again. Asking for all options at every step would be
// simpler here, but a forgotten --dim would then compare two different tasks. The baseline is
// converted to a module once; the original file is kept beside it.
#include "commands/optimize_run.h"

#include <filesystem>

#include "commands/candidate_file.h"
#include "commands/kernel_commands.h"
#include "commands/values.h"
#include "core/json_reader.h"
#include "core/json_writer.h"
#include "core/text.h"
#include "machine/devices.h"
#include "os/files.h"
#include "os/permissions.h"
#include "reference/import_file.h"
#include "reference/load_reference.h"

namespace kw::commands {
namespace {

std::string absolute_path(const std::string& path) {
  std::error_code error;
  const std::filesystem::path full = std::filesystem::absolute(path, error);
  return error ? path : full.lexically_normal().string();
}

/// --reference, or its other name --ref; "file.py:function" names both.
Result<std::string> reference_path(const Args& args, std::string& function) {
  std::string path = args.one("--reference", args.one("--ref"));
  if (!args.one("--reference").empty() && !args.one("--ref").empty())
    return input_error("--reference and --ref are the same option; give one of them");
  if (path.empty())
    return input_error("missing required option --reference REF: a Python file or a task folder");
  KW_TRY(reference::split_name(path, function));
  if (!os::exists(path)) return input_error("there is no reference " + path);
  return absolute_path(path);
}

/// --noise auto|PCT, or --noise-threshold-pct PCT.
Result<std::optional<double>> minimum_option(const Args& args) {
  const std::string noise = args.one("--noise");
  const std::string older = args.one("--noise-threshold-pct");
  if (!older.empty() && args.given("--noise"))
    return input_error("--noise and --noise-threshold-pct are the same option; give one of them");
  if (!older.empty()) return std::optional(args.number("--noise-threshold-pct"));
  if (noise == "auto") return std::optional<double>();
  const std::optional<double> percent = parse_double(noise);
  if (!percent || !(*percent >= 0) || *percent > 100)
    return input_error("--noise: '{}' is neither 'auto' nor a number of percent", noise);
  return percent;
}

/// The folder in which the run gets its own.
Result<std::string> parent_of_run(const Args& args, const std::string& kernel) {
  const std::string out = args.one("--out");
  if (out.empty()) return std::filesystem::path(absolute_path(kernel)).parent_path().string();
  if (os::exists(out) && !os::is_directory(out)) return input_error("--out: {} is a file", out);
  return absolute_path(out);
}

/// Records a file that cannot be imported, as verify does.
Result<std::string> recorded_text(const std::string& path, const Args& args,
                                  const workflows::TaskToolsRequest& machine,
                                  std::vector<std::string>* notes) {
  const task::Task task = KW_TRY(reference::load_reference({machine.reference,
                                                            machine.function,
                                                            task_inputs(machine.inputs),
                                                            machine.dims,
                                                            {},
                                                            false,
                                                            {},
                                                            machine.mode,
                                                            machine.device}));
  const auto device = KW_TRY(machine::open_device({machine.device, machine.target, 60, {}}));
  verification::ForeignRequest request;
  request.path = path;
  request.import = {machine.reference, machine.function, args.one("--launcher"),
                    machine.inputs,    machine.dims,     false,
                    machine.mode};
  request.include_folders = KW_TRY(include_folders(args));
  request.task = &task;
  request.dims = machine.dims;
  request.device = device->info();
  request.target = machine.target;
  request.timeout_seconds = machine.timeout_seconds;
  verification::CandidateText candidate = KW_TRY(verification::read_candidate(request));
  if (candidate.refused)
    return input_error("{} cannot be recorded: {}", path, candidate.refused->reason);
  notes->insert(notes->end(), candidate.notes.begin(), candidate.notes.end());
  return candidate.text;
}

/// Reads the baseline as a module. Another CUDA file is converted, and the original is kept too.
Status read_kernel(const std::string& path, const Args& args,
                   const workflows::TaskToolsRequest& machine, optimize::SetupRequest& request,
                   Io& io) {
  const std::string text = KW_TRY(os::read_file(path, kMostModuleBytes));
  const reference::ImportOptions options{
      machine.reference, machine.function, args.one("--launcher"),
      machine.inputs,    machine.dims,     false,
      machine.mode};
  std::vector<std::string> notes;
  Result<std::string> module = reference::read_kernel_text(path, options, &notes);
  if (!module && verification::is_foreign(path, text))
    module = recorded_text(path, args, machine, &notes);
  request.text = KW_TRY(std::move(module));
  for (const std::string& note : notes) io.note(note);
  if (request.text != text) request.original = text;
  request.name = std::filesystem::path(path).filename();
  return Done{};
}

}  // namespace

Result<workflows::TaskToolsRequest> task_tools_request(const Args& args) {
  workflows::TaskToolsRequest request;
  request.function = args.one("--function");
  request.reference = KW_TRY(reference_path(args, request.function));
  KW_TRY(task_request_options(args, request));
  if (args.given("--seed")) request.seed = static_cast<uint64_t>(args.integer("--seed"));
  return request;
}

Result<workflows::TaskToolsRequest> task_tools_request(const optimize::Settings& settings,
                                                       const Args& args) {
  auto request = read_record<workflows::TaskToolsRequest>(settings.machine);
  KW_TRY(os::check_named(settings.reference));
  request.reference = settings.reference;
  request.device = args.one("--device", request.device);
  request.compiler = args.one("--compiler", request.compiler);
  if (args.given("--timeout")) request.timeout_seconds = args.number("--timeout");
  if (args.given("--budget-seconds")) request.budget_seconds = args.number("--budget-seconds");
  request.threads = static_cast<int>(args.integer("--threads", request.threads));
  request.version = version();
  return request;
}

Result<std::unique_ptr<workflows::TaskTools>> open_optimize_tools(
    const workflows::TaskToolsRequest& request, Io& io) {
  auto tools = KW_TRY(
      workflows::open_task_tools(request, [&io](const std::string& what) { io.progress(what); }));
  if (!tools->no_gpu().empty()) io.note("no GPU, so all times are estimates: " + tools->no_gpu());
  return tools;
}

Result<optimize::SetupRequest> setup_request(const Args& args, const std::string& kernel,
                                             const std::string& proposer,
                                             workflows::TaskTools& tools, Io& io) {
  const workflows::TaskToolsRequest machine = KW_TRY(task_tools_request(args));
  optimize::SetupRequest request;
  KW_TRY(read_kernel(kernel, args, machine, request, io));
  optimize::Settings& settings = request.settings;
  settings.baseline = absolute_path(kernel);
  settings.reference = machine.reference;
  settings.dims = tools.dims();
  settings.iterations = static_cast<int>(args.integer("--iterations"));
  settings.branches = static_cast<int>(args.integer("--branches"));
  settings.ncu_num = static_cast<int>(args.integer("--ncu-num"));
  settings.minimum_pct = KW_TRY(minimum_option(args));
  settings.proposer = proposer;
  settings.machine = record_json(machine);
  request.parent = KW_TRY(parent_of_run(args, kernel));
  return request;
}

}  // namespace kw::commands
