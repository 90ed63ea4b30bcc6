// The steps of a synthesis and what several of them share. plan_of() gives their order. Internal.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workflows/session.h"

namespace kw::workflows {

inline constexpr uint64_t kMostReferenceBytes = uint64_t{1} << 20;

enum class StepKind : uint8_t {
  Stage,  // skipped after a failure; has a trace; its Error becomes the failure in the report
  Always  // taken after a failure too, without a trace; its Error ends the job without a report
};

struct SessionStep {
  const char* name;  // in traces, for a stage
  Status (*take)(Session&);
  StepKind kind = StepKind::Stage;
};

/// What a synthesis does, in order. The proposer must not be "auto".
std::vector<SessionStep> plan_of(const SynthesizeRequest& request);
/// Takes all steps of the plan.
Result<SynthesisReport> take_steps(Session& session);

// The stages.
Status read_reference(Session& session);
Status open_machine(Session& session);
Status interview(Session& session);
Status search(Session& session);
Status evolve(Session& session);
Status certify_models(Session& session);
Status certify_evolved(Session& session);

// Between them. The stages that write kernels, polish and generalise write their own traces,
// because a failure there need not end the job.
Status check_same_task(Session& session);  // of a resumed run
Status open_run(Session& session);
Status talk(Session& session);
Status polish(Session& session);
Status conclude(Session& session);
Status try_shapes(Session& session);
Status write_report(Session& session);

// The request and its task.
/// A request as config.json stores it, and the inverse.
Json request_to_json(const SynthesizeRequest& request);
SynthesizeRequest request_from_json(const Json& json);
/// Sorts the benchmark shapes by the priority.
void order_shapes(task::Task& task, const std::string& priority);
/// The input lines that a model reads from the prompt; `problem` says which are missing.
Result<std::vector<std::string>> inputs_from_model(Session& session, const std::string& problem);

// Models.
Status open_models(Session& session);
/// Shows what models may cost.
void report_terms(Session& session);
/// Every request to a model of the interview or of the stages goes through it.
stages::Answer answers_of(Session& session);
std::unique_ptr<ExplainingJudge> explaining_judge(Session& session);
/// Reviewers of what the verifier lets through; null when the options name no model.
Result<std::unique_ptr<review::ModelReviewers>> open_reviewers(
    Session& session, const review::SoftVerifyOptions& options, evolve::Verifier& verifier);
stages::StageInput stage_input(const Session& session);
std::optional<record::Candidate> known_candidate(const Session& session, const std::string& id);

// The judge and the search.
judge::JudgeRequest judge_request(const Session& session);
/// Makes the judge and fills the archive with the results of earlier sessions.
Status open_judge(Session& session);
void restore_archive(Session& session);
halving::Options search_options(Session& session);

/// Shapes that differ from the tuned one and that the reference accepts: up to two of the task's
/// other benchmark shapes, then one dim changed at a time, in turn smaller, larger (with limited
/// bytes) and odd.
std::vector<task::Dims> unseen_shapes(const task::Task& task, const task::Dims& tuned, size_t most);

// report.json, from the completed report.
Json report_document(const Session& session);
Json evolution_json(const Session& session);

}  // namespace kw::workflows
