// A model rarely writes a right and fast kernel at the first try, so the stages split the task.
// Codegen asks until a module compiles. Correctness gives the judge's report back to the model
// until the module passes the gate. Performance asks for faster modules and keeps the best. One
// long request for everything would cost fewer calls, but its errors could not be separated. Each
// stage has a budget of attempts; when it is spent, a stronger model may get the history. Attempts
// of an earlier session count, so a resumed run does not spend its budget twice. The cost: a bad
// first module uses up attempts for repairs that a new start would not need.
#include "stages/stages.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>

#include "core/text.h"
#include "stages/impl.h"
#include "stages/prompts.h"

namespace kw::stages {

const StageOutcome* StageHistory::failed() const {
  const auto at = std::ranges::find(stages, false, &StageOutcome::succeeded);
  return at == stages.end() ? nullptr : &*at;
}

namespace {

/// The interview does not write kernels, so its attempts do not count here.
bool writes_kernels(const Attempt& attempt) {
  return attempt.stage != stage_name(Stage::Interview);
}

size_t kernels_tried(const std::vector<Attempt>& attempts) {
  return static_cast<size_t>(std::ranges::count_if(attempts, writes_kernels));
}

}  // namespace

std::string history_text(const std::vector<Attempt>& attempts) {
  std::string out;
  for (const Attempt& attempt : attempts) {
    if (!writes_kernels(attempt)) continue;
    out += fmt::format("{} {}{} by {}: {}{}\n", attempt.stage, attempt.number,
                       attempt.escalated ? " (escalated)" : "", attempt.model,
                       attempt.candidate.empty() ? "" : "module " + attempt.candidate + ": ",
                       split_lines(attempt.outcome.empty() ? "?" : attempt.outcome)[0]);
  }
  return out.empty() ? "this is the first attempt\n" : out;
}

Stages::Stages(ModelPlan plan, StageInput input, Ports ports, StageProgress progress)
    : impl_(std::make_unique<Impl>(std::move(plan), std::move(input), std::move(ports),
                                   std::move(progress))) {}
Stages::~Stages() = default;

Result<StageHistory> Stages::write() { return impl_->write(); }
Result<std::optional<record::Candidate>> Stages::polish(const record::Candidate& winner,
                                                        const std::string& facts,
                                                        std::string* why) {
  return impl_->polish(winner, facts, why);
}
const std::vector<Attempt>& Stages::attempts() const { return impl_->attempts; }

Stages::Impl::Impl(ModelPlan p, StageInput b, Ports o, StageProgress progress)
    : plan(std::move(p)),
      input(std::move(b)),
      ports(std::move(o)),
      writer(plan, input, ports),
      attempts(progress.attempts),
      before(std::move(progress)) {}

int Stages::Impl::used(Stage stage, bool escalated) const {
  return static_cast<int>(std::ranges::count_if(attempts, [&](const Attempt& attempt) {
    return attempt.stage == stage_name(stage) && attempt.escalated == escalated;
  }));
}

Status Stages::Impl::note(const TryRequest& request, const Try& made, bool succeeded,
                          const std::string& outcome, double us) {
  Attempt attempt;
  attempt.stage = stage_name(request.stage);
  attempt.number = request.number;
  attempt.escalated = request.escalated;
  attempt.model = writer.model(request).text();
  if (made.candidate) attempt.candidate = made.candidate->id;
  attempt.succeeded = succeeded;
  attempt.outcome = outcome;
  attempt.us = us;
  attempts.push_back(attempt);
  if (made.candidate) KW_TRY(ports.journal->show(request.folder, made.candidate->id));
  return ports.journal->attempt(attempt);
}

std::string Stages::Impl::source_text(const record::Candidate& candidate) {
  // Comments are removed: their author could write any claim or instruction into them.
  return fmt::format("module {}:\n{}", candidate.id,
                     data("cuda", without_comments(candidate.text)));
}

Result<std::optional<record::Candidate>> Stages::Impl::compiling(TryRequest request, int most) {
  const std::string root = request.folder;
  for (int i = 0; i < most; ++i) {
    request.number = used(request.stage, false) + used(request.stage, true) + 1;
    request.folder = fmt::format("{}/attempt_{:02}", root, i + 1);
    const Try made = KW_TRY(writer.submit(request));
    if (writer.failure()) return std::optional<record::Candidate>{};
    if (!made.candidate) {
      KW_TRY(note(request, made, false, made.problem));
      writer.say(prompt("no_module", {{"problem", made.problem}}));
      continue;
    }
    const ports::Outcome look =
        KW_TRY(ports.judge->examine_one(*made.candidate, ports::Depth::Compile));
    KW_TRY(note(request, made, look.passed(), look.passed() ? "compiles" : look.refused));
    if (look.passed()) {
      KW_TRY(ports.journal->show(root + "/final", made.candidate->id));
      return made.candidate;
    }
    writer.say(prompt("compile_failed", {{"reason", data("data", look.refused)},
                                         {"log", data("data", look.detail)},
                                         {"source", source_text(*made.candidate)}}));
  }
  return std::optional<record::Candidate>{};
}

Result<std::optional<record::Candidate>> Stages::Impl::escalated(TryRequest request, int most,
                                                                 const std::string& goal) {
  if (!plan.escalate || most <= 0 || writer.failure()) return std::optional<record::Candidate>{};
  request.escalated = true;
  request.folder += "/escalated";
  history.notes.push_back(
      fmt::format("{}: {} attempts failed; {} was asked with all of their history",
                  stage_name(request.stage), used(request.stage, false), plan.escalation.text()));
  const std::string last = last_source();
  writer.begin(true);
  writer.say(prompt("escalate", {{"history", data("data", history_text(attempts))},
                                 {"count", std::to_string(kernels_tried(attempts))},
                                 {"source", last.empty() ? "(none)" : last},
                                 {"goal", goal}}));
  return compiling(request, most);
}

std::string Stages::Impl::last_source() const {
  for (auto at = attempts.rbegin(); at != attempts.rend(); ++at) {
    if (at->candidate.empty() || !ports.known) continue;
    const auto candidate = ports.known(at->candidate);
    if (candidate)
      return source_text(*candidate) + "\nThe judge's findings:\n" + data("data", at->outcome);
  }
  return "";
}

Result<std::optional<record::Candidate>> Stages::Impl::codegen() {
  const TryRequest request{Stage::Codegen, 1, false, "stage2_codegen"};
  const std::string start =
      input.built_in ? prompt("codegen_improve", {{"source", source_text(*input.built_in)},
                                                  {"hints", hints(*input.built_in)}})
                     : prompt("codegen");
  writer.say(start);
  if (kernels_tried(before.attempts) > 0)
    writer.say("Attempts so far:\n" + data("data", history_text(before.attempts)));
  const int left = plan.budget(Stage::Codegen) - used(Stage::Codegen, false);
  auto made = KW_TRY(compiling(request, std::max(left, 0)));
  if (made || writer.failure()) return made;
  return escalated(request, plan.escalated_codegen - used(Stage::Codegen, true), start);
}

// Verifies the candidate. A failure replaces "compiles" in the history, which would mislead.
Result<ports::Outcome> Stages::Impl::judge(const record::Candidate& candidate) {
  ports::Outcome look = KW_TRY(ports.judge->examine_one(candidate, ports::Depth::Verify));
  if (!look.passed() && !attempts.empty() && attempts.back().candidate == candidate.id)
    attempts.back().outcome = "compiles, but is not right: " + look.refused;
  KW_TRY(ports.journal->show("stage3_correctness", candidate.id));
  return look;
}

// Verifies the candidate and has it repaired within the budget; not set when it stays wrong.
Result<std::optional<record::Candidate>> Stages::Impl::correct(record::Candidate candidate,
                                                               std::string* reason) {
  ports::Outcome look = KW_TRY(judge(candidate));
  const int rounds = plan.budget(Stage::Correctness);
  for (int round = rounds_before() + 1; !look.passed() && round <= rounds; ++round) {
    const std::string folder = fmt::format("stage3_repair/attempt_{:02}", round);
    KW_TRY(ports.journal->write(folder + "/correctness_report.md", look.detail + "\n"));
    const std::string report = prompt("wrong", {{"reason", data("data", look.refused)},
                                                {"report", data("data", look.detail)},
                                                {"source", source_text(candidate)}});
    writer.say(report);
    const TryRequest request{Stage::Correctness, 1, false, folder + "/codegen"};
    auto made = KW_TRY(compiling(request, std::max(plan.budget(Stage::Codegen), 1)));
    if (!made && !writer.failure())
      made = KW_TRY(
          escalated(request, plan.escalated_codegen - used(Stage::Correctness, true), report));
    if (writer.failure()) break;
    if (!made) continue;
    candidate = *made;
    look = KW_TRY(judge(candidate));
  }
  if (!look.passed() && rounds > 0) KW_TRY(last_repair(rounds + 1, candidate, look));
  if (look.passed()) return std::optional(candidate);
  *reason = look.refused;
  return std::optional<record::Candidate>{};
}

// After the last round, the stronger model repairs it, if it has an attempt left.
Status Stages::Impl::last_repair(int round, record::Candidate& candidate, ports::Outcome& look) {
  const int left =
      plan.escalated_codegen - used(Stage::Correctness, true) - used(Stage::Codegen, true);
  const TryRequest request{Stage::Correctness, 1, false,
                           fmt::format("stage3_repair/attempt_{:02}/codegen", round)};
  const std::string report = prompt("wrong", {{"reason", data("data", look.refused)},
                                              {"report", data("data", look.detail)},
                                              {"source", source_text(candidate)}});
  const auto made = KW_TRY(escalated(request, left, report));
  if (!made) return Done{};
  candidate = *made;
  look = KW_TRY(judge(candidate));
  return Done{};
}

// The repair rounds of an earlier session; each attempt that compiled ended one.
int Stages::Impl::rounds_before() const {
  return static_cast<int>(std::ranges::count_if(before.attempts, [](const Attempt& attempt) {
    return attempt.stage == stage_name(Stage::Correctness) && attempt.succeeded;
  }));
}

void Stages::Impl::finish(Stage stage, bool succeeded, const std::string& reason, double begin) {
  std::string why = succeeded ? "" : reason;
  if (!succeeded && writer.failure()) why = writer.failure()->error().message;
  history.stages.push_back({stage, succeeded, why, now() - begin});
}

Result<bool> Stages::Impl::find_right() {
  double begin = now();
  std::optional<record::Candidate> made = before.wrong;
  if (!made) {
    made = KW_TRY(codegen());
    const std::string last = attempts.empty() ? "" : "; the last: " + attempts.back().outcome;
    finish(Stage::Codegen, made.has_value(), "no attempt produced a module that compiles" + last,
           begin);
  }
  if (!made) return false;
  begin = now();
  std::string reason;
  const auto right = KW_TRY(correct(*made, &reason));
  finish(Stage::Correctness, right.has_value(), reason, begin);
  if (!right) return false;
  const ports::Outcome time = KW_TRY(ports.judge->examine_one(*right, ports::Depth::Time));
  if (!time.passed()) {
    history.stages.back() = {Stage::Correctness, false, time.refused, now() - begin};
    return false;
  }
  consider(*right, time);
  return true;
}

void Stages::Impl::consider(const record::Candidate& candidate, const ports::Outcome& time) {
  if (history.best && history.us > 0 && (time.us <= 0 || time.us >= history.us)) return;
  history.best = candidate;
  history.us = time.us;
  history.measured = time.measured;
}

// If the built-in module is faster, the performance stage starts from it.
Status Stages::Impl::consider_built_in() {
  if (!input.built_in || input.built_in_us <= 0 || history.us <= input.built_in_us) return Done{};
  const ports::Outcome right =
      KW_TRY(ports.judge->examine_one(*input.built_in, ports::Depth::Verify));
  if (!right.passed()) return Done{};
  const ports::Outcome time = KW_TRY(ports.judge->examine_one(*input.built_in, ports::Depth::Time));
  if (time.passed()) consider(*input.built_in, time);
  return Done{};
}

Result<StageHistory> Stages::Impl::write() {
  writer.begin(true);
  if (before.right) {
    history.best = before.right;
    history.us = before.us;
    history.stages.push_back({Stage::Codegen, true, "", 0});
    history.stages.push_back({Stage::Correctness, true, "", 0});
  } else if (!KW_TRY(find_right())) {
    history.provider = writer.failure();
    return history;
  }
  // Otherwise codegen has already sent the history.
  if ((before.right || before.wrong) && kernels_tried(before.attempts) > 0)
    writer.say("Attempts so far:\n" + data("data", history_text(before.attempts)));
  const double begin = now();
  KW_TRY(consider_built_in());
  KW_TRY(performance());
  finish(Stage::Performance, !writer.failure(), "", begin);
  history.provider = writer.failure();
  for (const std::string& line : writer.compactions()) history.notes.push_back(line);
  return history;
}

double Stages::Impl::now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace kw::stages
