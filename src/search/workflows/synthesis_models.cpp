// Models can write kernels that code generation cannot, but they cost money and may fail at any
// time. So they run after the built-in search, and only if that missed the goal (hybrid) or was not
// requested (llm). Three parts use them: the interview about an unclear prompt, the stages that
// write a kernel, and polish, which adds comments. Everything they write goes through the same
// judge; their tunables are then searched like those of built-in designs. Each call goes through
// ask_model(), which reports terms and failures. After a provider's failure no model is asked, and
// the run continues with what it has. Polish never replaces a winner with a slower kernel.
#include <fmt/core.h>

#include <algorithm>

#include "core/text.h"
#include "os/interrupt.h"
#include "stages/interview.h"
#include "variants/builtin.h"
#include "workflows/kernel_spec.h"
#include "workflows/model_work.h"
#include "workflows/synthesis.h"

namespace kw::workflows {
namespace {

constexpr size_t kTuned = 8;         // tunable values tried for models' modules, without a clock
constexpr size_t kTunedModules = 3;  // modules of models that are tuned
constexpr size_t kTunePlateau = 16;  // measured without a better one
constexpr double kTuneShare = 0.5;   // of the search time
constexpr double kSlower = 1.05;     // noise allowed for the same code
constexpr int kPolishEffort = 2;     // for timing a polished kernel beside the plain one

/// The lines that we write into a polished kernel.
std::vector<std::string> measured_lines(const judge::Certificate& certificate,
                                        const halving::Entry& entry, const std::string& dims,
                                        double floor_us, const std::string& rates_of) {
  std::vector<std::string> lines;
  if (const auto* passed = std::get_if<record::Passed>(&certificate.bench.gate.gate.verdict)) {
    lines.push_back(
        fmt::format("Verified by kernelwright: {} cells, worst error {:.3g} of its bound.",
                    passed->cells, passed->summary.max_z));
  }
  const auto& measurement = certificate.bench.candidate.measurement;
  if (measurement) {
    lines.push_back(
        fmt::format("Measured by kernelwright on {}: {:.2f} us at {}, {:.0f} % of the "
                    "floor.",
                    certificate.bench.device.name, measurement->summary.median, dims,
                    100 * floor_us / measurement->summary.median));
  } else if (certificate.cost && !entry.is_lower_bound) {
    lines.push_back(
        fmt::format("Estimated by kernelwright for {}, never measured: {:.2f} us at {}.", rates_of,
                    certificate.cost->us, dims));
  }
  return lines;
}

}  // namespace

Status Synthesis::open_models() {
  // For every proposer: worker processes do not need the keys.
  if (const auto config = llm::load_config()) stages::hide_keys(*config);
  std::string warning;
  request_.proposer =
      KW_TRY(stages::resolve_proposer(request_.proposer, request_.models, &warning));
  if (!warning.empty()) report_.warnings.push_back(warning);
  if (request_.proposer == "builtin") {
    if (!request_.readers.model.empty())
      report_.warnings.push_back(
          "--verifier-model: no model writes here (--proposer builtin), so there is nothing to "
          "read");
    return Done{};
  }
  if (request_.models.budget_usd && !(*request_.models.budget_usd >= 0))
    return input_error("--budget must be dollars, 0 or more");
  work_ = std::make_unique<ModelWork>();
  work_->proposer = request_.proposer;
  work_->session = KW_TRY(stages::ModelSession::open(request_.models, order_seed_));
  work_->journal =
      std::make_unique<stages::RunJournal>(*work_->session, request_.models.transcripts);
  KW_TRY(review::check_reader_model(request_.readers, *work_->session));
  if (request_.evolve) KW_TRY(open_ensemble());
  return Done{};
}

// Every request to a model goes through here.
llm::Outcome Synthesis::ask_model(const llm::ModelId& id, const llm::Request& request) {
  if (!work_->terms_told) {
    work_->terms_told = true;
    progress_.notice = work_->session->terms();
    report_progress(progress_.stage, progress_.detail);
    progress_.notice.clear();
  }
  llm::Watch watch;
  watch.on_text = [this, &id, bytes = size_t{0}](std::string_view text) mutable {
    bytes += text.size();
    report_progress(progress_.stage, fmt::format("{} answers, {} bytes so far", id.text(), bytes));
  };
  llm::Outcome outcome = work_->session->answer(id, request, watch);
  if (!outcome) work_->provider = outcome.failure();
  return outcome;
}

Status Synthesis::ask_what_is_open(const std::string& known, std::vector<std::string> open,
                                   std::vector<std::string>* inputs) {
  stages::InterviewRequest ask;
  ask.reference = reference_text_;
  ask.prompt = request_.prompt;
  ask.target = request_.target;
  ask.known = known;
  ask.open = std::move(open);
  ask.ask = request_.models.ask;
  const auto answer = [this](const llm::ModelId& id, const llm::Request& request) {
    return ask_model(id, request);
  };
  stages::InterviewOutcome outcome =
      KW_TRY(stages::interview(work_->session->plan(), ask, answer, *work_->journal));
  for (stages::Attempt& attempt : outcome.attempts) work_->attempts.push_back(std::move(attempt));
  KW_TRY(os::check_interrupted());
  if (!outcome.answers) {
    report_.warnings.push_back("interview: " + outcome.problem);
    return Done{};
  }
  if (inputs != nullptr) *inputs = outcome.answers->inputs;
  if (outcome.answers->priority) work_->priority = *outcome.answers->priority;
  work_->notes = outcome.answers->notes;
  for (const std::string& question : outcome.answers->questions)
    report_.notes.push_back("the model asks (--ask lets you answer): " + question);
  return Done{};
}

// Neither the user nor the prompt's phrases describe the inputs, so a model reads the prompt.
Result<std::vector<std::string>> Synthesis::inputs_from_model(const std::string& problem) {
  std::vector<std::string> inputs;
  if (work_ == nullptr || problem.find("--input") == std::string::npos) return inputs;
  KW_TRY(ask_what_is_open("the reference cannot be read without them: " + problem,
                          {"dtype and symbolic shape of every input"}, &inputs));
  return inputs;
}

Status Synthesis::interview() {
  ModelWork& work = *work_;
  const ports::Device& device =
      tools_.verify.gpu != nullptr ? *tools_.verify.gpu : *tools_.verify.virtual_gpu;
  const ports::DeviceInfo info = device.info();
  const arch::Target target =
      KW_TRY(arch::find_target(request_.target == "auto" ? info.target : request_.target));
  work.target = target_text(target, info.name, info.sms, info.l2_bytes);
  work.interface = KW_TRY(interface_lines(*task_, target));
  const reference::Phrase* said = prompt_.find(reference::PhraseKind::Priority);
  work.spec =
      KW_TRY(kernel_spec(*task_, target, work.interface, said != nullptr ? said->value : ""));
  if (!request_.models.store_reference) work.journal->hide(reference_text_);
  if (work.frozen) {
    if (said == nullptr) order_shapes(work.frozen->optimization_priority);
    work.spec = *work.frozen;
    return Done{};
  }
  if (work.attempts.empty() && !prompt_.unused.empty()) {
    KW_TRY(ask_what_is_open(
        stages::to_json(work.spec).dump(true),
        {"what these words of the user mean for the kernel: " + join(prompt_.unused, "; ")},
        nullptr));
  }
  if (said == nullptr && !work.priority.empty()) {
    work.spec.optimization_priority = work.priority;
    order_shapes(work.priority);
  }
  if (!work.notes.empty()) work.spec.notes += (work.spec.notes.empty() ? "" : "; ") + work.notes;
  return Done{};
}

stages::StageInput Synthesis::brief() const {
  stages::StageInput brief;
  brief.name = task_->name;
  brief.reference = reference_text_;
  brief.prompt = task_->prompt;
  brief.spec = stages::to_json(work_->spec).dump(true);
  brief.interface = work_->interface;
  brief.target = work_->target;
  brief.goal = request_.goal;
  brief.floor_us = judge_->rank_floor_us();
  const halving::Entry* best = archive_.best();
  if (work_->proposer == "hybrid" && best != nullptr && best->candidate.model.empty()) {
    brief.built_in = best->candidate;
    brief.built_in_us = best->us();
  }
  return brief;
}

// The results of earlier sessions of this run.
stages::StageProgress Synthesis::standing() const {
  stages::StageProgress standing;
  standing.attempts = work_->attempts;
  for (const halving::Entry* entry : archive_.ranked()) {
    if (entry->candidate.model.empty() || entry->candidate.stage == "polish") continue;
    standing.right = entry->candidate;
    standing.us = entry->us();
    break;
  }
  for (auto at = work_->attempts.rbegin(); at != work_->attempts.rend() && !standing.wrong; ++at) {
    const bool writes = at->stage == "codegen" || at->stage == "correctness";
    if (!writes || !at->succeeded || at->candidate.empty()) continue;
    if (auto candidate = run_->candidate(at->candidate)) standing.wrong = *candidate;
  }
  return standing;
}

std::optional<record::Candidate> Synthesis::known_candidate(const std::string& id) const {
  for (const halving::Entry& entry : archive_.entries()) {
    if (entry.candidate.id.starts_with(id)) return entry.candidate;
  }
  if (auto kept = run_->candidate(id)) return *kept;
  return std::nullopt;
}

// Puts the reviewers before the judge for models' modules, as in an evolution.
Status Synthesis::open_readers() {
  if (request_.readers.model.empty() || work_->reading) return Done{};
  const review::ReadersRequest ask{request_.readers, request_.models, reference_text_, order_seed_};
  work_->readers = KW_TRY(
      review::Readers::open(ask, work_->nobody, *run_, work_->session.get(), work_->journal.get()));
  work_->reading =
      std::make_unique<review::ReviewedJudge>(*work_->judge, work_->readers->verifier());
  return Done{};
}

Status Synthesis::talk() {
  ModelWork& work = *work_;
  const halving::Entry* best = archive_.best();
  const double floor = judge_->rank_floor_us();
  const bool counts = best != nullptr && (!judge_->has_clock() || best->outcome.measured);
  if (work.proposer == "hybrid" && counts && best->us() > 0 &&
      floor / best->us() >= request_.goal) {
    work.why_no_talk = fmt::format("the built-in proposer reached the goal ({:.0f} % of the floor)",
                                   100 * floor / best->us());
  } else if (work.provider) {
    work.why_no_talk = work.provider->error().message;
  }
  if (!work.why_no_talk.empty()) return Done{};
  work.judge = std::make_unique<ExplainingJudge>(
      *judge_, archive_, calibration_,
      std::vector<std::pair<std::string, std::string>>{{run_->folder(), "run"},
                                                       {request_.reference, "reference.py"}});
  KW_TRY(open_readers());
  stages::Ports ports;
  ports.judge = work.judge.get();
  if (work.reading) ports.judge = work.reading.get();
  ports.journal = work.journal.get();
  ports.answer = [this](const llm::ModelId& id, const llm::Request& request) {
    return ask_model(id, request);
  };
  ports.known = [this](const std::string& id) { return known_candidate(id); };
  ports.report_progress = [this](const std::string& stage, const std::string& detail) {
    work_->stage = stage;
    report_progress(stage, detail);
  };
  work.stages =
      std::make_unique<stages::Stages>(work.session->plan(), brief(), std::move(ports), standing());
  work.story = KW_TRY(work.stages->write());
  KW_TRY(os::check_interrupted());
  return Done{};
}

void Synthesis::talk_step() {
  if (!report_.failed_stage.empty()) return;
  work_->stage = "codegen";
  progress_.eta_seconds.reset();
  const Status done = guarded(&Synthesis::talk);
  if (work_->stages) work_->attempts = work_->stages->attempts();
  if (work_->story) {
    for (const stages::StageOutcome& stage : work_->story->stages)
      traces_.push_back({stages::stage_name(stage.stage), 0, stage.succeeded, stage.seconds});
    for (const std::string& note : work_->story->notes) report_.notes.push_back(note);
    if (const stages::StageOutcome* failed = work_->story->failed()) {
      work_->why_not = fmt::format("{}: {}", stages::stage_name(failed->stage), failed->reason);
      // A provider's failure is reported once, at the end.
      if (!work_->provider) report_.warnings.push_back(work_->why_not);
    }
  }
  if (!work_->why_no_talk.empty())
    (work_->provider ? report_.warnings : report_.notes)
        .push_back("no model was asked: " + work_->why_no_talk);
  if (done) return;
  if (!work_->story) traces_.push_back({work_->stage, 0, false, 0});
  fail(work_->stage, done.error());
}

// Searches the tunable values of models' modules like those of the built-in proposer.
std::unique_ptr<halving::Proposer> Synthesis::tuner() const {
  std::vector<variants::Recipe> recipes;
  std::vector<const halving::Entry*> ranked = archive_.ranked();
  if (work_->reading)
    std::ranges::stable_sort(ranked, std::greater(), [this](const halving::Entry* entry) {
      return work_->reading->score(entry->candidate.id);
    });
  for (const halving::Entry* entry : ranked) {
    const record::Candidate& candidate = entry->candidate;
    const bool plain = !candidate.model.empty() && candidate.stage != "polish";
    if (!plain || recipes.size() == kTunedModules) continue;
    recipes.push_back(
        {candidate.origin, [text = candidate.text]() -> Result<std::string> { return text; }});
  }
  if (recipes.empty() || only_measure_) return variants::no_proposer();
  return std::make_unique<variants::Builtin>(std::move(recipes), order_seed_);
}

Status Synthesis::certify_models() {
  halving::Options options = search_options(judge_->has_clock());
  options.rules.clear();
  options.rules.push_back(halving::stop_at_goal(request_.goal));
  options.rules.push_back(halving::stop_after_seconds(kTuneShare * request_.seconds));
  if (judge_->has_clock())
    options.rules.push_back(halving::stop_at_plateau(kTunePlateau));
  else
    options.rules.push_back(halving::stop_after_candidates(archive_.entries().size() + kTuned));
  const std::unique_ptr<halving::Proposer> tuning = tuner();
  const std::optional<halving::SearchResult> explored = std::move(outcome_);
  outcome_ = KW_TRY(halving::run(*tuning, *judge_, archive_, options));
  if (explored) {
    outcome_->stopped = explored->stopped;
    outcome_->seconds += explored->seconds;
    outcome_->measured += explored->measured;
  }
  return Done{};
}

// The winner with a model's comments and our measurements; not set when no model wrote them.
Result<std::optional<record::Candidate>> Synthesis::annotated(const halving::Entry& winner) {
  for (const halving::Entry& entry : archive_.entries()) {
    const std::vector<std::string>& parents = entry.candidate.parents;
    const bool its = std::ranges::find(parents, winner.candidate.id) != parents.end();
    if (entry.alive() && its && entry.candidate.stage == "polish")
      return std::optional(entry.candidate);
  }
  const judge::Certificate& plain = *judge_->certificate();
  record::Candidate shown = winner.candidate;
  shown.text = plain.text;
  const auto answer = KW_TRY(work_->stages->polish(shown, work_->judge->explain(winner.candidate),
                                                   &work_->why_not_polished));
  work_->attempts = work_->stages->attempts();
  if (!answer) return answer;
  const std::vector<std::string> lines = measured_lines(
      plain, winner, task::dims_text(judge_->dims()), judge_->floor().us, calibration_.gpu);
  record::Candidate made =
      record::make_candidate(stages::with_header(stages::without_claims(answer->text), lines),
                             winner.candidate.tunes, "llm", answer->origin, {winner.candidate.id});
  made.model = answer->model;
  made.stage = answer->stage;
  made.attempt = answer->attempt;
  return std::optional(made);
}

// Why the annotated kernel must not be shipped; "" when it was certified like the winner.
Result<std::string> Synthesis::certify_annotated(const record::Candidate& made,
                                                 const halving::Entry& winner,
                                                 const judge::Certificate& plain) {
  archive_.add(made);
  const ports::Outcome compiled = KW_TRY(work_->judge->examine_one(made, ports::Depth::Compile));
  KW_TRY(work_->journal->show("stage5_polish", made.id));
  if (!compiled.passed()) return "the annotated module was refused: " + compiled.refused;
  const std::string slower = KW_TRY(slower_than(winner, made, plain));
  if (!slower.empty()) return slower;
  const ports::Outcome look = KW_TRY(judge_->certify(made));
  KW_TRY(work_->journal->show("stage5_polish", made.id));
  halving::Entry& entry = archive_.at(made.id);
  entry.outcome.refused = look.refused;
  if (!look.refused.empty()) return "the annotated module was refused: " + look.refused;
  entry.certified = true;
  return std::string();
}

// "" when the annotated module is as fast as the plain one, raced together or by estimate without a
// clock. Equal code may differ by noise; changed code must not be slower.
Result<std::string> Synthesis::slower_than(const halving::Entry& winner,
                                           const record::Candidate& made,
                                           const judge::Certificate& plain) {
  const bool same = stages::same_code(plain.text, made.text);
  const std::vector<ports::Outcome> screened =
      KW_TRY(judge_->examine({winner.candidate, made}, ports::Depth::Screen));
  const halving::Entry& entry = archive_.note(made, screened[1]);
  double before = screened[0].us, after = screened[1].us;
  bool slower = screened[1].is_lower_bound && !screened[0].is_lower_bound;  // counting was stopped
  if (judge_->has_clock() && entry.alive()) {
    const std::vector<ports::Outcome> looks =
        KW_TRY(judge_->race({winner.candidate, made}, {.effort = kPolishEffort}));
    before = looks[0].us;
    after = looks[1].us;
    archive_.note(made, looks[1]);
    slower = false;
  }
  if (!entry.alive()) return "the annotated module was refused: " + entry.outcome.refused;
  slower = slower || after > (same ? kSlower : 1) * before;
  if (!slower) return std::string();
  const std::string why =
      fmt::format("the annotated module {}is slower: {:.2f} us beside {:.2f} us ({})",
                  same ? "" : "changes code and ", after, before,
                  judge_->has_clock() ? "measured together" : "estimated");
  archive_.note(made, ports::Outcome::refusal(why));
  return why;
}

// If anything fails, the winner is shipped unchanged.
Status Synthesis::polish() {
  const halving::Entry winner = archive_.at(*outcome_->winner);
  work_->polished = winner.candidate.stage == "polish";  // by an earlier session
  if (work_->polished) return Done{};
  const auto made = KW_TRY(annotated(winner));
  if (!made) return Done{};
  const judge::Certificate plain = *judge_->certificate();
  work_->why_not_polished = KW_TRY(certify_annotated(*made, winner, plain));
  if (!work_->why_not_polished.empty()) {
    judge_->keep(plain);
    return Done{};
  }
  outcome_->winner = made->id;
  work_->polished = true;
  return Done{};
}

void Synthesis::polish_step() {
  const bool can = report_.failed_stage.empty() && outcome_ && outcome_->winner &&
                   work_->stages != nullptr && !work_->provider &&
                   work_->session->plan().budget(stages::Stage::Polish) > 0;
  if (!can) return;
  report_progress("polish", "");
  const double begin = seconds();
  const judge::Certificate plain = *judge_->certificate();
  const Status done = guarded(&Synthesis::polish);
  if (!done) {
    work_->why_not_polished = done.error().message;
    judge_->keep(plain);
  }
  traces_.push_back({"polish", 0, work_->polished, seconds() - begin});
  if (work_->polished) return;
  report_.warnings.push_back("polish: " + work_->why_not_polished +
                             "; the kernel is shipped as it was verified");
}

}  // namespace kw::workflows
