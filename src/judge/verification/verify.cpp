// Verification joins one candidate's text with one task: parse, cross-check the reference, draw
// inputs, run the gate. Text that does not parse is a rejected candidate, because authors produce
// such text often. Inputs and truths are expensive, so candidates of one task share them in
// VerifyPools. There are two pools: small shapes for the virtual GPU, full shapes for a GPU. One
// pool for both was the alternative; the virtual GPU is too slow for full shapes. The cost: truths
// for two sets of shapes, at most a quarter of the memory each.
#include "verification/verify.h"

#include "arch/arch.h"
#include "binding/inputs.h"
#include "binding/load.h"
#include "core/contains.h"
#include "core/text.h"
#include "inputs/families.h"
#include "os/entropy.h"
#include "os/interrupt.h"
#include "os/memory.h"
#include "verification/verify_sanitizer.h"

namespace kw::verification {

namespace {

constexpr uint64_t kExtentsPurpose = 0x5ec2e7;  // of derive_seed()
constexpr uint64_t kPoolShare = 4;              // a pool gets a quarter of the available memory

Result<kernel::Bindings> fixed_for(ports::Device& device, const VerifyRequest& request) {
  const ports::DeviceInfo info = device.info();
  kernel::Bindings fixed;
  fixed.target = KW_TRY(arch::find_target(request.target.empty() ? info.target : request.target));
  fixed.sms = info.sms;
  fixed.l2_bytes = info.l2_bytes;
  fixed.tunes = request.tunes;
  return fixed;
}

/// Whether this device judges the numbers, or only runs first.
enum class Judges : uint8_t { Yes, No };

Result<gate::Pool> make_pool(const task::Task& task, const VerifyRequest& request,
                             ports::Oracle& oracle, shapes::ShapeLimits limits, Judges judges) {
  limits.derive = request.dims.empty();
  limits.secret = request.seed ? inputs::derive_seed(*request.seed, kExtentsPurpose)
                               : KW_TRY(binding::secret_seed());
  // A shape that the user named is not cut where numbers are judged.
  limits.cut = limits.cut && (limits.derive || judges == Judges::No);
  // A named shape may take as long as the user allows.
  if (!limits.derive && request.budget_seconds > 0) limits.most_work = 0;
  shapes::ShapePlan shapes = KW_TRY(shapes::plan_shapes(task, limits));
  gate::PoolOptions options;
  options.seed = request.seed;
  options.family = request.family;
  options.threads = request.threads;
  options.scalars = true;
  if (const uint64_t memory = os::available_memory(); memory > 0)
    options.max_bytes = memory / kPoolShare;
  return gate::Pool::make(task, oracle, std::move(shapes), options, binding::secret_seed);
}

gate::GateRequest gate_request(const VerifyRequest& request, const VerifyTools& tools,
                               const single_run::Progress& progress) {
  gate::GateRequest gate;
  gate.compiler = tools.compiler;
  gate.repro = {request.module_path, request.reference_path, request.task_options};
  gate.entropy = binding::secret_seed;
  if (tools.gpu != nullptr) gate.other_checkers = sanitizer_checkers(request.module_path);
  gate.timeout_seconds = request.timeout_seconds;
  gate.budget_seconds = request.budget_seconds;
  if (!request.dims.empty()) gate.only = "only the shape of --dims was judged";
  if (!request.family.empty()) gate.only = "only the family of --family was judged";
  gate.threads = request.threads;
  gate.progress = progress;
  gate.interrupted = [] { return os::interrupted(); };
  return gate;
}

}  // namespace

Result<task::Task> with_dims(task::Task task, const std::map<std::string, int64_t>& dims) {
  if (dims.empty()) return task;
  task::Dims only = task.benchmark_shapes.empty() ? task::Dims() : task.benchmark_shapes.front();
  std::vector<std::string> names;
  for (const auto& [name, value] : only) names.push_back(name);
  for (const auto& [name, value] : dims) {
    const auto at = only.find(name);
    if (at == only.end()) {
      return input_error(
          "the task has no dim '{}'{}; {}", name, did_you_mean(name, names),
          names.empty() ? "its shapes are fixed" : "its dims are " + join(names, ", "));
    }
    if (value < 0 || value > kernel::kMaxDim)
      return input_error("dim {} = {} is outside 0 … 2^40", name, value);
    at->second = value;
  }
  task.correctness_shapes = {only};
  task.benchmark_shapes.clear();
  return task;
}

std::vector<std::string> task_options(const std::vector<std::string>& inputs,
                                      const std::string& function) {
  std::vector<std::string> words;
  for (const std::string& input : inputs) words.insert(words.end(), {"--input", input});
  if (!function.empty()) words.insert(words.end(), {"--function", function});
  return words;
}

Status check_family(const std::string& name) {
  const std::vector<std::string>& names = inputs::all_families();
  if (contains(names, name)) return Done{};
  return input_error("there is no input family '{}'{}; families: {}", name,
                     did_you_mean(name, names), join(names, ", "));
}

Status check_family_of(const task::Task& task, const std::string& name) {
  if (name == "special" && task.precision.nan != task::NanPolicy::Propagate)
    return input_error(
        "--family special: the task says nan = \"never\": inputs have no NaN or infinity, so it is "
        "not judged with these (nan = \"propagate\" asks for them)");
  if (name == "denormal" && task.precision.flush)
    return input_error(
        "--family denormal: the task allows kernels to flush subnormals to zero, so it is not "
        "judged "
        "with these");
  return Done{};
}

bool VerifyReport::ok() const {
  return record::passed(gate.verdict) && (!imposters || imposters->complete());
}

Status open_pools(const task::Task& asked, const VerifyRequest& request, const VerifyTools& tools,
                  VerifyPools& pools) {
  KW_TRY(check_family_of(asked, request.family));
  if (pools.task == nullptr)
    pools.task = std::make_unique<task::Task>(KW_TRY(with_dims(asked, request.dims)));
  if (!pools.small)
    pools.small.emplace(
        KW_TRY(make_pool(*pools.task, request, *tools.oracle, shapes::virtual_limits(),
                         tools.gpu == nullptr ? Judges::Yes : Judges::No)));
  if (!pools.large && tools.gpu != nullptr)
    pools.large.emplace(KW_TRY(
        make_pool(*pools.task, request, *tools.oracle, shapes::device_limits(), Judges::Yes)));
  return Done{};
}

Result<VerifyReport> verify_module(const std::string& module_text, const task::Task& asked,
                                   const VerifyRequest& request, const VerifyTools& tools,
                                   const single_run::Progress& progress, VerifyPools* pools) {
  VerifyPools fresh;
  VerifyPools& kept = pools != nullptr ? *pools : fresh;
  if (kept.task == nullptr)
    kept.task = std::make_unique<task::Task>(KW_TRY(with_dims(asked, request.dims)));
  const task::Task& task = *kept.task;
  VerifyReport report;
  report.module_name = printable(request.module_path.substr(request.module_path.rfind('/') + 1));
  report.module_text = module_text;
  report.recorded = kernel::recorded_from(module_text);
  if (!report.recorded.empty()) report.trust = "foreign";
  report.task_name = task.name;
  report.task_hash = task::task_hash(asked);
  report.task_notes = task.notes;
  const Result<kernel::Module> module = binding::parse_module(module_text, report.module_name);
  gate::GateRequest gate = gate_request(request, tools, progress);
  if (!module) {
    report.gate.verdict = record::Rejected{record::Stage::Static, module.error().message,
                                           std::nullopt, gate.repro.line()};
    report.gate.stages.push_back(
        {record::Stage::Static, "rejected", {"the module does not parse"}, 0});
    return report;
  }
  if (!kept.cross_check && tools.cross_check) {
    if (progress) progress("evaluating the reference with PyTorch");
    kept.cross_check = KW_TRY(tools.cross_check(task));
  }
  report.cross_check = kept.cross_check;
  if (progress) progress("drawing inputs");
  KW_TRY(open_pools(asked, request, tools, kept));
  gate.virtual_gpu = {tools.virtual_gpu, KW_TRY(fixed_for(*tools.virtual_gpu, request)),
                      &*kept.small};
  if (tools.gpu != nullptr)
    gate.gpu = gate::GateDevice{tools.gpu, KW_TRY(fixed_for(*tools.gpu, request)), &*kept.large};
  report.gate = KW_TRY(gate::judge(*module, gate));
  report.truths_by = tools.oracle->made_by();
  report.compiler_notes = tools.compiler->notes();
  if (request.kill_rate) {
    if (progress) progress("judging imposters");
    report.imposters = KW_TRY(gate::kill_rate(*kept.small, *tools.oracle, gate.interrupted));
  }
  return report;
}

}  // namespace kw::verification
