// A model cannot read our structs, and a bare refusal does not help it. So this judge adds text to
// each outcome: compiler messages with their source lines, findings, the worst element, the limit
// of the kernel, counters and resources. Every judged candidate also enters the archive of the
// search, so a kernel from a conversation competes with all others. Paths of this machine are
// replaced, because prompts leave it. Comments of the module are removed from excerpts. Sending the
// raw reports was the alternative; they are too long for a prompt. The verdict itself is the inner
// judge's, unchanged.
#include "workflows/explaining_judge.h"

#include <fmt/core.h>

#include "core/text.h"
#include "report/excerpt.h"
#include "report/findings.h"
#include "report/verdict.h"
#include "stages/answer_source.h"

namespace kw::workflows {
namespace {

constexpr size_t kMostMessages = 12;
constexpr const char* kModuleName = "module.cu";

/// Each message with its line of source.
std::string messages_text(const ports::CompileFailed& failed, const std::string& source) {
  std::string out;
  for (size_t i = 0; i < std::min(kMostMessages, failed.messages.size()); ++i) {
    const ports::CompileMessage& message = failed.messages[i];
    out +=
        fmt::format("{} in line {}: {}\n",
                    message.severity == ports::CompileMessage::Severity::Error ? "error" : "note",
                    message.line, message.text);
    out += report::excerpt(source, {{message.line, message.column, "", report::Paint::Error}}, {});
  }
  if (failed.messages.size() > kMostMessages)
    out += fmt::format("… and {} more\n", failed.messages.size() - kMostMessages);
  return failed.messages.empty() ? failed.log : out;
}

std::string resources_text(const std::vector<ports::KernelResources>& list) {
  std::string out;
  for (const ports::KernelResources& one : list) {
    out += fmt::format(
        "  {} registers per thread, {} bytes of static shared memory, {} bytes spilled\n",
        one.registers, std::max<int64_t>(one.static_shared, 0),
        std::max<int64_t>(one.spill_store_bytes, 0));
  }
  return out.empty() ? "" : "resources (from the compiler):\n" + out;
}

std::string trial_text(const judge::Trial& trial, const std::string& source) {
  if (trial.failed) return messages_text(*trial.failed, source);
  std::string out = trial.log;
  if (trial.outcome) {
    const report::FindingContext context{trial.program ? &*trial.program : nullptr, kModuleName,
                                         source};
    out += fmt::format("the run {}{}\n", ports::run_status_name(trial.outcome->status),
                       trial.outcome->message.empty() ? "" : ": " + trial.outcome->message);
    out += report::findings_text(trial.outcome->findings, context, {});
    if (!trial.outcome->printed.empty()) out += "printed:\n" + trial.outcome->printed;
  }
  return out + resources_text(trial.resources);
}

/// What candidates are ranked by, if that is more than the time at one shape.
std::string shapes_text(const std::vector<judge::ShapeTime>& shapes, const std::string& ranked_by) {
  std::string out = "candidates are ranked by " + ranked_by + "\n";
  for (size_t i = 0; shapes.size() > 1 && i < shapes.size(); ++i) {
    const judge::ShapeTime& one = shapes[i];
    if (one.us <= 0) continue;
    out += fmt::format("  at {}: {:.2f} us ({}), {:.0f} % of the floor there\n", one.dims, one.us,
                       one.measured ? "measured" : "estimated", 100 * one.floor_us / one.us);
  }
  return out;
}

std::string gate_text(const verification::VerifyReport& report) {
  const std::string source = stages::without_comments(report.module_text);
  const report::FindingContext context{nullptr, kModuleName, source};
  std::string out = report::verdict_text(report.gate.verdict, context, {});
  if (report.gate.compile_failed) out += messages_text(*report.gate.compile_failed, source);
  size_t wrong = 0;
  for (const gate::CellReport& cell : report.gate.cells) wrong += !cell.right;
  if (wrong > 0) out += fmt::format("{} of {} cells are wrong:\n", wrong, report.gate.cells.size());
  for (const gate::CellReport& cell : report.gate.cells) {
    if (cell.right) continue;
    out += fmt::format("  {} {} ({}): max error {} of the bound\n", cell.cell.shape,
                       cell.cell.family, cell.why, report::short_number(cell.summary.max_z));
  }
  return out;
}

}  // namespace

std::string ExplainingJudge::anonymous(std::string text) const {
  for (const auto& [path, name] : private_paths_) {
    if (!path.empty()) text = replace_all(std::move(text), path, name);
  }
  return text;
}

Result<std::vector<ports::Outcome>> ExplainingJudge::examine(const ports::Candidates& candidates,
                                                             ports::Depth depth) {
  std::vector<ports::Outcome> out;
  for (const record::Candidate& candidate : candidates)
    out.push_back(KW_TRY(examined(candidate, depth)));
  return out;
}

Result<ports::Outcome> ExplainingJudge::examined(const record::Candidate& candidate,
                                                 ports::Depth depth) {
  switch (depth) {
    case ports::Depth::Compile:
      return trial(candidate, false);
    case ports::Depth::Run:
      return trial(candidate, true);
    case ports::Depth::Screen:
      return estimate(candidate);
    case ports::Depth::Verify:
      return verify(candidate);
    case ports::Depth::Time:
      return time(candidate);
  }
  return time(candidate);
}

Result<ports::Outcome> ExplainingJudge::trial(const record::Candidate& candidate, bool run) {
  const judge::Trial made = KW_TRY(judge_.trial(candidate, run));
  resources_[candidate.id] = resources_text(made.resources);
  ports::Outcome out;
  out.detail = anonymous(printable(trial_text(made, stages::without_comments(candidate.text))));
  if (made.well) return out;
  out.refused = anonymous(judge::verdict_reason(made.verdict));
  archive_.note(candidate, out);
  return out;
}

Result<ports::Outcome> ExplainingJudge::verify(const record::Candidate& candidate) {
  const verification::VerifyReport report = KW_TRY(judge_.verify(candidate));
  ports::Outcome out;
  out.refused = anonymous(judge::verdict_reason(report.gate.verdict));
  out.detail = anonymous(printable(gate_text(report)));
  archive_.note(candidate, out);
  if (out.passed()) KW_TRY(estimate(candidate));
  return out;
}

Result<ports::Outcome> ExplainingJudge::estimate(const record::Candidate& candidate) {
  const ports::Outcome out = KW_TRY(judge_.examine_one(candidate, ports::Depth::Screen));
  archive_.note(candidate, out);
  return out;
}

Result<ports::Outcome> ExplainingJudge::time(const record::Candidate& candidate) {
  if (!archive_.contains(candidate.id)) KW_TRY(verify(candidate));
  const archive::Entry& known = archive_.at(candidate.id);
  if (known.alive() && has_clock())
    archive_.note(candidate, KW_TRY(judge_.examine_one(candidate, ports::Depth::Time)));
  ports::Outcome out = known.outcome;
  out.is_lower_bound = known.is_lower_bound;
  out.detail = out.passed() ? explain(candidate) : anonymous(out.refused);
  return out;
}

std::string ExplainingJudge::explain(const record::Candidate& candidate) {
  const archive::Entry* at = archive_.find(candidate.id);
  const auto resources = resources_.find(candidate.id);
  const std::vector<judge::ShapeTime> shapes = judge_.shape_times(candidate.id);
  // Of an earlier session only the rank is known.
  const bool here = shapes.front().us > 0;
  const double us = here ? shapes.front().us : at != nullptr ? at->us() : 0;
  const bool measured = here ? shapes.front().measured : at != nullptr && at->outcome.measured;
  return bound_text(judge_.cost(candidate.id), judge_.work(), judge_.floor(), us, measured,
                    calibration_.gpu) +
         counters_hint(judge_.counted(candidate.id)) + shapes_text(shapes, judge_.ranked_by()) +
         (resources == resources_.end() ? "" : resources->second) + evidence_hint(candidate);
}

}  // namespace kw::workflows
