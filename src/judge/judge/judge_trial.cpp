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
#include "judge/judge_counting.h"
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

const timing::Cost* LocalJudge::cost(const std::string& id) const {
  const auto at = first().costs.find(id);
  return at == first().costs.end() ? nullptr : &at->second;
}

std::vector<timing::CostLaunch> LocalJudge::counted(const std::string& id) const {
  const auto at = first().launches.find(id);
  return at == first().launches.end() ? std::vector<timing::CostLaunch>() : at->second;
}

Result<std::string> LocalJudge::code_of(const record::Candidate& candidate) {
  const Result<kernel::Module> module = binding::parse_module(candidate.text, "module.cu");
  if (!module) return std::string();
  ports::Device& device = *lanes_.first().tools.verify.virtual_gpu;
  const auto matching = gate::match_tensors(*module, *request_.task, first().graph);
  if (!matching) return std::string();
  gate::Programs programs(*module, *ahead_, device, fixed_for(device, candidate),
                          request_.verify.timeout_seconds);
  const gate::Built built =
      KW_TRY(programs.build(*matching, *request_.task, first().graph, first().dims));
  auto request = first().compile_request(*module, fixed_for(device, candidate),
                                         request_.verify.timeout_seconds);
  if (!built.ready || !request) return std::string();
  request->image = ports::ImageKind::Ptx;
  request->apart = true;
  const ports::CompileOutcome made = KW_TRY(ahead_->compile(*request));
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

void LocalJudge::expect(const ports::Candidates& candidates) {
  const ports::Device& device = *lanes_.first().tools.verify.virtual_gpu;
  for (const record::Candidate& candidate : candidates) {
    const Result<kernel::Module> module = binding::parse_module(candidate.text, "module.cu");
    if (!module) continue;
    auto request = first().compile_request(*module, fixed_for(device, candidate),
                                           request_.verify.timeout_seconds);
    if (!request) continue;
    request->image = ports::ImageKind::Ptx;
    request->apart = true;
    ahead_->ahead(std::move(*request));
  }
}

Result<verification::VerifyReport> LocalJudge::verify(const record::Candidate& candidate) {
  KW_TRY(os::check_interrupted());
  KW_TRY(run_.keep(candidate));
  report_progress("judging " + candidate.origin);
  compile_ahead(*ahead_, candidate, ports::ImageKind::Ptx, Wanted::All);
  timing::Lane& lane = lanes_.first();
  if (has_clock())
    compile_ahead(*ahead_, candidate, lane.tools.verify.gpu->info().image, Wanted::All);
  verification::VerifyReport judged = KW_TRY(gate(lane, candidate));
  if (record::passed(judged.gate.verdict)) gated_.insert(candidate.id);
  return judged;
}

Result<Trial> LocalJudge::trial(const record::Candidate& candidate, bool run) {
  KW_TRY(os::check_interrupted());
  KW_TRY(run_.keep(candidate));
  Trial trial;
  const auto refuse_with = [&](record::Verdict verdict, std::string log) -> Result<Trial> {
    trial.verdict = std::move(verdict);
    trial.log = std::move(log);
    KW_TRY(run_.compiled(candidate.id, trial.log));
    KW_TRY(refuse(candidate, trial.verdict));
    return trial;
  };
  const Result<kernel::Module> module = binding::parse_module(candidate.text, "module.cu");
  if (!module) {
    return refuse_with(rejected(record::Stage::Static, problems_line(module.error().message)),
                       module.error().message);
  }
  const Site& at = first();
  ports::Device& device = *lanes_.first().tools.verify.virtual_gpu;
  const auto matching = gate::match_tensors(*module, *request_.task, at.small.graph);
  if (!matching) return refuse_with(rejected(record::Stage::Static, matching.error().message), "");
  gate::Programs programs(*module, *ahead_, device, fixed_for(device, candidate),
                          request_.verify.timeout_seconds);
  const gate::Built built =
      KW_TRY(programs.build(*matching, *request_.task, at.small.graph, at.small.dims));
  const gate::Built timed = KW_TRY(programs.build(*matching, *request_.task, at.graph, at.dims));
  for (const gate::Built* one : {&built, &timed}) {
    if (one->failed) {
      trial.failed = one->failed;
      return refuse_with(rejected(record::Stage::Compile, first_error(*one->failed)),
                         failure_log(*one->failed));
    }
    if (!one->not_served.empty())
      return refuse_with(rejected(record::Stage::Static, one->not_served), "");
    if (!one->not_loaded.empty() && !has_clock())
      return refuse_with(rejected(record::Stage::VirtualGpu, one->not_loaded), "");
  }
  trial.resources = KW_TRY(resources_of(*module, candidate));
  if (run && built.ready) {
    ports::RunOptions options;
    options.threads = request_.verify.threads;
    options.timeout_seconds = request_.verify.timeout_seconds;
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

Result<std::vector<ports::KernelResources>> LocalJudge::resources_of(
    const kernel::Module& module, const record::Candidate& candidate) {
  std::vector<ports::KernelResources> resources;
  const kernel::Bindings fixed = fixed_for(*lanes_.first().tools.verify.virtual_gpu, candidate);
  auto request = first().compile_request(module, fixed, request_.verify.timeout_seconds);
  if (!request) return resources;
  request->apart = true;
  machine::BestImage image(*ahead_, ports::ImageKind::Cubin);
  const auto compiled = image.compile(*request);
  if (!compiled || !compiled->compiled) return resources;
  for (const ports::CompiledKernel& kernel : compiled->compiled->kernels)
    resources.push_back(kernel.resources);
  return resources;
}

}  // namespace kw::judge
