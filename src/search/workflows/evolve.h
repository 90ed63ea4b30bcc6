// The `evolve` command: a synthesis whose candidates come in generations (evolve/). Its winner is
// certified like every other and timed at shapes it was not tuned for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "review/soft_options.h"

namespace kw::workflows {

/// The options of an evolution as the user typed them; check_evolve() checks the ranges.
struct EvolveRequest {
  int64_t generations = 10, proposals = 8, hardware = 4;
  int64_t islands = 1, in_flight = 4;
  std::string mode = "auto";  // "translate", "optimize"
  bool verifiers = true, shape_info = true, profile_feedback = true;
  review::SoftVerifyOptions reviewers;  // reviewers of what the verifier let through
  std::vector<std::string> ensemble;    // "MODEL[:TEMPERATURE][:EFFORT]"; empty: the default model
  std::optional<uint64_t> seed;         // of the order of proposals; inputs are always fresh
};

/// What the user may change when an evolution is resumed.
struct EvolveResumeOptions {
  std::optional<int64_t> generations;
  std::vector<std::string> ensemble;  // empty: as before
};

Status check_evolve(const EvolveRequest& request);
void fields(auto& v, EvolveRequest& r) {
  v("generations", r.generations)("proposals", r.proposals)("hardware", r.hardware);
  v("islands", r.islands)("in_flight", r.in_flight)("verifiers", r.verifiers);
  v("shape_info", r.shape_info)("profile_feedback", r.profile_feedback)("mode", r.mode);
  v("ensemble", r.ensemble)("readers", r.reviewers)("seed", r.seed);
}

/// The winner at a shape it was not tuned for, beside the first generated kernel.
struct UnseenShape {
  std::string dims;
  double us = 0, baseline_us = 0;  // 0: unknown
  bool measured = false;           // otherwise both are estimates
  /// The speedup over the baseline here, divided by that at the tuned shape; 0: unknown.
  double relative = 0;
  bool flagged = false;  // more than 10 % worse than at the tuned shape
  std::string problem;   // why there is no number
};
Json to_json(const UnseenShape& shape);

/// The parts of a run's "evolution" for the user: curve, arms, operators, unseen shapes.
std::string evolution_text(const Json& evolution, bool markdown);

/// Evolutions side by side. Names as for named_run(). The input Error names a run that is not an
/// evolution.
struct EvolveComparison {
  Json document;
  std::string text, markdown;
  std::string page;  // complete HTML
  /// The path of the page: comparison.html in the folder of the last run.
  std::string page_path;     // "" when it could not be written
  std::string page_problem;  // why
};
Result<EvolveComparison> compare_evolutions(const std::string& out,
                                            const std::vector<std::string>& runs);
/// A report with the name of its row.
struct NamedReport {
  std::string name, folder;
  Json report;
};
/// The same for given reports. If the page cannot be written, `page_problem` says why.
Result<EvolveComparison> compare_reports(const std::vector<NamedReport>& reports);

}  // namespace kw::workflows
