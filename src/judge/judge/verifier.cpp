// A model that writes a kernel needs answers in seconds: does it compile, does it run without
// findings, is it right? trial() answers the first two: it compiles for the timed shape and runs a
// small one on the virtual GPU with all checks. verify() answers the third with the gate. Both
// store the candidate and every refusal, so a trial counts like any other judgement. Giving the
// model only the final verdict was the alternative; it then cannot see what to fix. A trial without
// problems is Unknown, never passed.
#include <fmt/core.h>

#include "binding/load.h"
#include "core/text.h"
#include "gate/programs.h"
#include "judge/parts.h"
#include "machine/best_image.h"
#include "os/interrupt.h"

namespace kw::judge {
namespace {

std::string failure_log(const ports::CompileFailed& failed) {
  std::string log;
  for (const ports::CompileMessage& message : failed.messages)
    log += fmt::format("line {}, column {}: {}\n", message.line, message.column, message.text);
  return log.empty() ? failed.log : log;
}

std::optional<record::Finding> certain_finding(const ports::RunOutcome& outcome) {
  for (const record::Finding& finding : outcome.findings) {
    if (finding.certainty == record::Certainty::Certain) return finding;
  }
  return std::nullopt;
}

/// The verdict of a run against a candidate; not set when there is none.
std::optional<record::Verdict> condemned(const ports::RunOutcome& outcome) {
  if (const auto finding = certain_finding(outcome)) {
    return record::Rejected{record::Stage::VirtualGpu, finding->message, *finding, ""};
  }
  if (outcome.status == ports::RunStatus::Completed) return std::nullopt;
  return not_completed(outcome);
}

/// "module.cu is not a valid kernel module: 2 problems: 3:16: unknown dtype …; 4:5: unknown line …"
std::string problems_line(const std::string& message) {
  constexpr size_t kMostProblems = 3;
  constexpr std::string_view kMark = ": error: ";
  std::string line;
  size_t count = 0;
  for (const std::string_view one : split_lines(message)) {
    const size_t mark = one.find(kMark);
    if (line.empty()) {
      line = one;
    } else if (mark != std::string_view::npos && ++count <= kMostProblems) {
      const size_t place = std::min(one.find(':'), mark);
      line += fmt::format("{} line {}: {}", count == 1 ? ":" : ";",
                          one.substr(std::min(place + 1, mark), mark - std::min(place + 1, mark)),
                          one.substr(mark + kMark.size()));
    }
  }
  return line;
}

}  // namespace

Result<std::string> Verifier::code_of(const record::Candidate& candidate) {
  const Result<kernel::Module> module = binding::parse_module(candidate.text, "module.cu");
  if (!module) return std::string();
  ports::Device& device = context_.virtual_gpu();
  const auto matching =
      shapes::match_tensors(*module, *context_.request.task, context_.first().graph);
  if (!matching) return std::string();
  gate::Programs programs(*module, *context_.ahead, device, context_.fixed_for(device, candidate),
                          context_.request.verify.timeout_seconds);
  const gate::Built built = KW_TRY(programs.build(*matching, *context_.request.task,
                                                  context_.first().graph, context_.first().dims));
  auto request = context_.compile_request(*module, candidate);
  if (!built.ready || !request) return std::string();
  request->image = ports::ImageKind::Ptx;
  const ports::CompileOutcome made = KW_TRY(context_.ahead->compile(*request));
  std::string code = made.compiled ? made.compiled->image : "";
  for (const kernel::Launch& launch : built.ready->program.launches) {
    const auto extents = [](const kernel::Dim3& of) {
      return fmt::format("{} {} {}", of.x, of.y, of.z);
    };
    code += fmt::format("{} <<<{}, {}, {}>>>\n", launch.entry, extents(launch.grid),
                        extents(launch.block), launch.shared_bytes);
  }
  return code;
}

void Verifier::expect(const ports::Candidates& candidates) {
  for (const record::Candidate& candidate : candidates) {
    const Result<kernel::Module> module = binding::parse_module(candidate.text, "module.cu");
    if (!module) continue;
    auto request = context_.compile_request(*module, candidate);
    if (!request) continue;
    request->image = ports::ImageKind::Ptx;
    context_.ahead->ahead(std::move(*request));
  }
}

// An error here appears again at the gate, which reports it.
void Verifier::begin_truths() {
  if (truths_begun_ || !context_.has_clock()) return;
  truths_begun_ = true;
  for (auto& lane : context_.lanes.all()) {
    truths_.push_back(std::async([this, at = lane.get()] {
      if (!verification::open_pools(context_.searched, context_.request.verify, at->tools.verify,
                                    at->pools))
        return;
      for (gate::Pool* pool : {&*at->pools.small, &*at->pools.large})
        if (!pool->prepare([] { return os::interrupted(); })) return;
    }));
  }
}

void Verifier::await_truths() {
  for (std::future<void>& made : truths_) made.get();
  truths_.clear();
}

Result<verification::VerifyReport> Verifier::gate(timing::Lane& lane,
                                                  const record::Candidate& candidate) {
  await_truths();
  // A screening: the winner is judged in full when it is certified.
  verification::VerifyRequest request = context_.verify_request(candidate);
  request.budget_seconds = 0;
  verification::VerifyReport judged = KW_TRY(verification::verify_module(
      candidate.text, context_.searched, request, lane.tools.verify, {}, &lane.pools));
  KW_TRY(context_.run.judged(candidate.id, to_json(judged)));
  if (record::passed(judged.gate.verdict)) return judged;
  const std::lock_guard lock(context_.mutex);
  context_.last_refusal = judged;
  return judged;
}

bool Verifier::has_passed(const timing::Lane& lane, const std::string& id) const {
  return &lane == &context_.lanes.first() && gated_.count(id) > 0;
}

Result<verification::VerifyReport> Verifier::verify(const record::Candidate& candidate) {
  KW_TRY(os::check_interrupted());
  KW_TRY(context_.run.keep(candidate));
  context_.report_progress("judging " + candidate.origin);
  context_.compile_for_gate(candidate);
  verification::VerifyReport judged = KW_TRY(gate(context_.lanes.first(), candidate));
  if (record::passed(judged.gate.verdict)) gated_.insert(candidate.id);
  return judged;
}

Result<Trial> Verifier::trial(const record::Candidate& candidate, bool run) {
  KW_TRY(os::check_interrupted());
  KW_TRY(context_.run.keep(candidate));
  Trial trial;
  const auto refuse_with = [&](record::Verdict verdict, std::string log) -> Result<Trial> {
    trial.verdict = std::move(verdict);
    trial.log = std::move(log);
    KW_TRY(context_.run.compiled(candidate.id, trial.log));
    KW_TRY(context_.refuse(candidate, trial.verdict));
    return trial;
  };
  const Result<kernel::Module> module = binding::parse_module(candidate.text, "module.cu");
  if (!module) {
    return refuse_with(rejected(record::Stage::Static, problems_line(module.error().message)),
                       module.error().message);
  }
  const Site& at = context_.first();
  ports::Device& device = context_.virtual_gpu();
  const auto matching = shapes::match_tensors(*module, *context_.request.task, at.small.graph);
  if (!matching) return refuse_with(rejected(record::Stage::Static, matching.error().message), "");
  gate::Programs programs(*module, *context_.ahead, device, context_.fixed_for(device, candidate),
                          context_.request.verify.timeout_seconds);
  const gate::Built built =
      KW_TRY(programs.build(*matching, *context_.request.task, at.small.graph, at.small.dims));
  const gate::Built timed =
      KW_TRY(programs.build(*matching, *context_.request.task, at.graph, at.dims));
  for (const gate::Built* one : {&built, &timed}) {
    if (one->failed) {
      trial.failed = one->failed;
      return refuse_with(rejected(record::Stage::Compile, first_error(*one->failed)),
                         failure_log(*one->failed));
    }
    if (!one->not_served.empty())
      return refuse_with(rejected(record::Stage::Static, one->not_served), "");
    if (!one->not_loaded.empty() && !context_.has_clock())
      return refuse_with(rejected(record::Stage::VirtualGpu, one->not_loaded), "");
  }
  trial.resources = KW_TRY(resources_of(*module, candidate));
  if (run && built.ready) {
    ports::RunOptions options;
    options.threads = context_.request.verify.threads;
    options.timeout_seconds = context_.request.verify.timeout_seconds;
    trial.outcome = KW_TRY(
        device.run(built.ready->image, built.ready->program,
                   gate::program_inputs(built.ready->program, *matching, at.inputs), options));
    trial.program = built.ready->program;
    if (auto verdict = condemned(*trial.outcome)) return refuse_with(*verdict, trial.log);
  }
  trial.verdict = record::Unknown{"it was not judged"};
  trial.well = true;
  return trial;
}

Result<std::vector<ports::KernelResources>> Verifier::resources_of(
    const kernel::Module& module, const record::Candidate& candidate) {
  std::vector<ports::KernelResources> resources;
  const auto request = context_.compile_request(module, candidate);
  if (!request) return resources;
  machine::BestImage image(*context_.ahead, ports::ImageKind::Cubin);
  const auto compiled = image.compile(*request);
  if (!compiled || !compiled->compiled) return resources;
  for (const ports::CompiledKernel& kernel : compiled->compiled->kernels)
    resources.push_back(kernel.resources);
  return resources;
}

}  // namespace kw::judge
