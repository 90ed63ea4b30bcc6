// Every part of the judge needs the same things: the timed shapes, the compilers, the records. They
// are one struct that the parts borrow. The parts could pass them to each other as arguments;
// almost every function would take six. Compilers run ahead in workers while this process counts or
// times. Two are kept: one compiles kernels one by one for candidates, the other whole modules as
// they are shipped. The cost: nothing stops a part from changing what another part reads.
#include "judge/judge_context.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "binding/load.h"
#include "kernel/methods.h"
#include "os/entropy.h"
#include "timing/counting.h"

namespace kw::judge {
namespace {

constexpr int kMostCompilers = 16;
constexpr int kWholeCompilers = 4;  // a winner has few images

}  // namespace

std::string verdict_reason(const record::Verdict& verdict) {
  struct Reason {
    std::string operator()(const record::Rejected& v) const {
      return fmt::format("rejected ({}): {}", record::stage_name(v.stage), v.reason);
    }
    std::string operator()(const record::Crashed& v) const { return "crashed: " + v.what; }
    std::string operator()(const record::Wrong& v) const { return "wrong: " + v.reason; }
    std::string operator()(const record::Passed&) const { return ""; }
    std::string operator()(const record::Unknown& v) const {
      return "unknown: " + v.missing_evidence;
    }
  };
  return std::visit(Reason(), verdict);
}

record::Verdict rejected(record::Stage stage, std::string reason) {
  return record::Rejected{stage, std::move(reason), std::nullopt, ""};
}

record::Verdict not_completed(const ports::RunOutcome& outcome) {
  // The virtual GPU's time limit depends on this machine, so it proves nothing about the kernel.
  // Long kernels are found by counting.
  if (outcome.status == ports::RunStatus::Hung) return record::Unknown{outcome.message};
  return rejected(record::Stage::VirtualGpu,
                  fmt::format("{}: {}", ports::run_status_name(outcome.status), outcome.message));
}

Status Site::choose(const task::Task& asked, const task::Dims& timed,
                    const record::Calibration& calibration) {
  task = &asked;
  dims = timed;
  timing::CountingShape at = KW_TRY(timing::counting_shape(asked, timed));
  graph = std::move(at.graph);
  work = timing::work_at(asked, graph);
  floor = clock::floor_of(work, calibration);
  plan = std::move(at.plan);
  small = std::move(at.small);
  inputs = std::move(at.inputs);
  scale = at.scale;
  return Done{};
}

std::optional<ports::CompileRequest> Site::compile_request(const kernel::Module& module,
                                                           const kernel::Bindings& fixed,
                                                           double timeout_seconds) const {
  const auto matching = shapes::match_tensors(module, *task, graph);
  if (!matching) return std::nullopt;
  const auto bindings = shapes::bind_shape(module, *matching, *task, graph, dims, fixed);
  if (!bindings) return std::nullopt;
  const auto selection = kernel::select(module, *bindings);
  if (!selection) return std::nullopt;
  return ports::compile_request(module, *selection, fixed.target.name, timeout_seconds);
}

JudgeContext::JudgeContext(const JudgeRequest& asked, timing::Lanes& on, ports::Records& into,
                           single_run::Progress watch)
    : request(asked), lanes(on), run(into), progress(std::move(watch)) {}

JudgeContext::~JudgeContext() {
  for (auto& lane : lanes.all()) lane->tools.verify.compiler = inner;
}

Status JudgeContext::prepare() {
  inner = lanes.first().tools.verify.compiler;
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  // Only NVRTC's images can be joined reliably, so other compilers compile kernels together.
  const machine::Kernels how =
      inner->name().starts_with("NVRTC") ? machine::Kernels::Apart : machine::Kernels::Together;
  ahead =
      std::make_unique<machine::AheadCompiler>(*inner, std::clamp(cores, 1, kMostCompilers), how);
  whole = std::make_unique<machine::AheadCompiler>(*inner, std::clamp(cores, 1, kWholeCompilers));
  for (auto& lane : lanes.all()) lane->tools.verify.compiler = ahead.get();
  const std::vector<task::Dims>& asked = request.task->benchmark_shapes;
  searched = *request.task;
  searched.benchmark_shapes = asked.empty() ? std::vector{searched.correctness_shapes.front()}
                              : request.all_shapes ? asked
                                                   : std::vector{asked.front()};
  for (const task::Dims& dims : searched.benchmark_shapes) {
    sites.push_back(std::make_unique<Site>());
    KW_TRY(sites.back()->choose(*request.task, dims, *request.calibration));
  }
  for (auto& lane : lanes.all()) lane->shapes.resize(sites.size());
  seed = request.verify.seed ? *request.verify.seed : KW_TRY(os::random_bits()) >> 1;
  return Done{};
}

// The host's overhead of an empty kernel is part of every kernel's host time.
double JudgeContext::as_ranked(double us) const {
  const record::Calibration& gpu = *request.calibration;
  if (!request.host_time || us <= 0 || gpu.host_us <= 0) return us;
  return gpu.host_us + std::max(0.0, us - gpu.launch_us);
}

double JudgeContext::rank_of(const std::function<double(const Site&)>& known) const {
  double logs = 0;
  int count = 0;
  for (const auto& site : sites) {
    if (!site->dropped.empty()) continue;
    const double us = known(*site);
    if (us <= 0) return 0;
    logs += std::log(us);
    ++count;
  }
  // The mean of one value must be that value, to the last bit.
  return count == 1 ? known(first()) : std::exp(logs / count);
}

void JudgeContext::report_progress(const std::string& what) const {
  const std::lock_guard lock(mutex);
  if (progress) progress(what);
}

kernel::Bindings JudgeContext::fixed_for(const ports::Device& device,
                                         const record::Candidate& candidate) const {
  const ports::DeviceInfo info = device.info();
  kernel::Bindings fixed;
  const auto target =
      arch::find_target(request.verify.target.empty() ? info.target : request.verify.target);
  if (target) fixed.target = *target;
  fixed.sms = info.sms;
  fixed.l2_bytes = info.l2_bytes;
  fixed.tunes = candidate.tunes;
  return fixed;
}

verification::VerifyRequest JudgeContext::verify_request(const record::Candidate& candidate) const {
  verification::VerifyRequest made = request.verify;
  made.module_path = run.module_path(candidate.id);
  made.tunes = candidate.tunes;
  for (const auto& [name, value] : candidate.tunes) {
    made.task_options.emplace_back("--tune");
    made.task_options.push_back(fmt::format("{}={}", name, value));
  }
  return made;
}

Result<ports::Outcome> JudgeContext::refuse(const record::Candidate& candidate,
                                            const record::Verdict& verdict) {
  KW_TRY(run.judged(candidate.id, record::to_json(verdict)));
  return ports::Outcome::refusal(verdict_reason(verdict));
}

std::optional<ports::CompileRequest> JudgeContext::compile_request(
    const kernel::Module& module, const record::Candidate& candidate) const {
  auto made = first().compile_request(module, fixed_for(virtual_gpu(), candidate),
                                      request.verify.timeout_seconds);
  if (made) made->apart = true;
  return made;
}

void JudgeContext::compile_ahead(machine::AheadCompiler& compiler,
                                 const record::Candidate& candidate, ports::ImageKind image,
                                 ShapeScope scope) {
  const Result<kernel::Module> module = binding::parse_module(candidate.text, "module.cu");
  if (!module) return;
  const kernel::Bindings fixed = fixed_for(virtual_gpu(), candidate);
  std::vector<const shapes::ShapeCase*> shapes;
  for (const auto& site : sites) {
    if (scope != ShapeScope::Timed) shapes.push_back(&site->small);
  }
  for (const shapes::ShapeCase& shape : first().plan.cases) {
    if (scope == ShapeScope::All) shapes.push_back(&shape);
  }
  const auto matching = shapes::match_tensors(*module, *request.task, first().graph);
  if (!matching) return;
  for (const shapes::ShapeCase* shape : shapes) {
    const auto bindings =
        shapes::bind_shape(*module, *matching, *request.task, shape->graph, shape->dims, fixed);
    const auto selection =
        bindings ? kernel::select(*module, *bindings) : Result<kernel::Selection>(bindings.error());
    if (!selection) continue;
    ports::CompileRequest ask;
    ask.source = module->text;
    ask.file_name = module->file_name;
    ask.target = fixed.target.name;
    ask.image = image;
    ask.defines = selection->defines;
    ask.kernels = selection->kernels;
    ask.timeout_seconds = request.verify.timeout_seconds;
    ask.apart = true;
    compiler.ahead(std::move(ask));
  }
  for (const auto& site : sites) {
    auto timed = site->compile_request(*module, fixed, request.verify.timeout_seconds);
    if (!timed) continue;
    timed->image = image;
    timed->apart = true;
    compiler.ahead(std::move(*timed));
  }
}

void JudgeContext::compile_for_gate(const record::Candidate& candidate) {
  compile_ahead(*ahead, candidate, ports::ImageKind::Ptx, ShapeScope::All);
  if (has_clock())
    compile_ahead(*ahead, candidate, lanes.first().tools.verify.gpu->info().image, ShapeScope::All);
}

void JudgeContext::compile_whole(const record::Candidate& candidate) {
  record::Candidate shipped = candidate;
  shipped.text = kernel::with_tunes(candidate.text, candidate.tunes);
  compile_ahead(*whole, shipped, ports::ImageKind::Ptx, ShapeScope::All);
  compile_ahead(*whole, shipped, ports::ImageKind::Cubin,
                has_clock() ? ShapeScope::All : ShapeScope::Timed);
}

}  // namespace kw::judge
