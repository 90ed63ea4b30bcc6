// The story of `evolve`: a synthesis whose candidates come in generations (evolve/), with its
// winner certified as every other and held against shapes nobody tuned it for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "review/soft_options.h"

namespace kw::workflows {

/// What makes a synthesis an evolution; as typed, ranges checked by check_evolve().
struct EvolveRequest {
  int64_t generations = 10, proposals = 8, hardware = 4;
  int64_t islands = 1, in_flight = 4;
  std::string mode = "auto";  // "translate", "optimize"
  bool verifiers = true, shape_info = true, profile_feedback = true;
  review::SoftVerifyOptions readers;  // who looks at what the machine let through
  std::vector<std::string> ensemble;  // "MODEL[:TEMPERATURE][:EFFORT]"; empty: the default model
  std::optional<uint64_t> seed;       // of the order of things; inputs are fresh all the same
};

/// What may be said anew when an evolution goes on.
struct EvolveAgain {
  std::optional<int64_t> generations;
  std::vector<std::string> ensemble;  // empty: as before
};

Status check_evolve(const EvolveRequest& request);
Json to_json(const EvolveRequest& request);
EvolveRequest evolve_request_from_json(const Json& json);

/// The winner at a shape that nobody tuned it for, beside the first generated kernel.
struct UnseenShape {
  std::string dims;
  double us = 0, baseline_us = 0;  // 0: unknown
  bool measured = false;           // else both are estimates
  /// Speed against the baseline here over the same at the tuned shape; 0: unknown.
  double relative = 0;
  bool flagged = false;  // more than a tenth worse than at the tuned shape
  std::string problem;   // why there is no number
};
Json to_json(const UnseenShape& shape);

/// What of a run's "evolution" is for people: curve, arms, operators, unseen shapes.
std::string evolution_text(const Json& evolution, bool markdown);

/// Runs that were evolutions, side by side. Names as named_run() takes them. An input Error names
/// one that is none.
struct EvolveComparison {
  Json document;
  std::string text, markdown;
  std::string page;  // HTML, whole in itself
  /// Where the page was put: comparison.html in the folder of the last run.
  std::string page_path;     // "" where it could not be written
  std::string page_problem;  // why
};
Result<EvolveComparison> compare_evolutions(const std::string& out,
                                            const std::vector<std::string>& runs);
/// A report, under the name its row shall have.
struct NamedReport {
  std::string name, folder;
  Json report;
};
/// The same for reports in hand. Errors: the page cannot be written.
Result<EvolveComparison> compare_reports(const std::vector<NamedReport>& reports);

}  // namespace kw::workflows
