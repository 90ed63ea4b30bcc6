// The options of an evolution are checked, stored with the run and read back when it is resumed.
// The JSON and the reading follow from one list of members, so they cannot differ.
// evolution_text() shows the result of one run; compare_reports() shows several side by side as
// text, JSON and one HTML page. The page is written beside the last run; if that folder is
// read-only, the tables are still returned. Separate code per option was the alternative; a
// forgotten one would change a resumed run silently.
#include "workflows/evolve.h"

#include <fmt/core.h>

#include "core/contains.h"
#include "core/json_reader.h"
#include "core/json_writer.h"
#include "core/text.h"
#include "evolve/compare_runs.h"
#include "evolve/ensemble.h"
#include "evolve/page.h"
#include "os/files.h"
#include "review/scoreboard.h"
#include "store/run.h"
#include "workflows/synthesize.h"

namespace kw::workflows {
namespace {

constexpr int64_t kMostGenerations = 10000, kMostProposals = 1024, kMostIslands = 64;

struct CountRow {
  const char* name;
  int64_t EvolveRequest::*value;
  int64_t most;
};
constexpr CountRow kCounts[] = {{"generations", &EvolveRequest::generations, kMostGenerations},
                                {"proposals", &EvolveRequest::proposals, kMostProposals},
                                {"hardware", &EvolveRequest::hardware, kMostProposals},
                                {"islands", &EvolveRequest::islands, kMostIslands},
                                {"in_flight", &EvolveRequest::in_flight, kMostProposals}};

std::string asked_text(const Json& row, const char* name) {
  return fmt::format("{}: asked {} times, {} right, {} better", row[name].as_string(),
                     row["asked"].as_int(), row["right"].as_int(), row["better"].as_int());
}

std::string unseen_text(const Json& row) {
  std::string line = row["dims"].as_string() + ": ";
  if (!row["problem"].is_null()) return line + "unknown, " + row["problem"].as_string();
  line += fmt::format("{:.2f} us, compared with {:.2f} us of the first generated kernel ({})",
                      row["us"].as_double(), row["baseline_us"].as_double(),
                      row["measured"].as_bool() ? "measured" : "estimated");
  if (row["relative"].is_number())
    line +=
        fmt::format(", {:.2f} of what it gains at the tuned shape", row["relative"].as_double());
  return line + (row["flagged"].as_bool() ? "  <- does not generalise" : "");
}

}  // namespace

Status check_evolve(const EvolveRequest& request) {
  for (const CountRow& row : kCounts) {
    const int64_t value = request.*row.value;
    if (value < 1 || value > row.most)
      return input_error("--{} needs 1 to {}, not {}", replace_all(row.name, "_", "-"), row.most,
                         value);
  }
  if (request.hardware > request.proposals)
    return input_error("--hardware {} of --proposals {}: no more can be judged than are proposed",
                       request.hardware, request.proposals);
  const std::vector<std::string> modes = {"translate", "optimize", "auto"};
  if (!contains(modes, request.mode))
    return input_error("--mode: there is no '{}'{}; modes: {}", request.mode,
                       did_you_mean(request.mode, modes), join(modes, ", "));
  for (const std::string& arm : request.ensemble) KW_TRY(evolve::parse_ensemble_lines(arm));
  return Done{};
}

void fields(auto& v, UnseenShape& s) {
  v("dims", s.dims)("us", s.us, Zero::Null)("baseline_us", s.baseline_us, Zero::Null);
  v("measured", s.measured)("relative", s.relative, Zero::Null)("flagged", s.flagged);
  v("problem", s.problem, Zero::Null);
}

Json to_json(const UnseenShape& shape) { return record_json(shape); }

std::string evolution_text(const Json& evolution, bool markdown) {
  const char* bullet = markdown ? "- " : "  ";
  const auto title = [&](const char* text) {
    return markdown ? fmt::format("\n## {}\n\n", text) : fmt::format("{}:\n", text);
  };
  std::string out;
  if (const std::string curve = evolve::curve_text(evolution); !curve.empty())
    out = title("best so far, by proposals") + (markdown ? "```\n" + curve + "```\n" : curve);
  std::string asked;
  for (const Json& row : evolution["operators"].items()) {
    if (row["asked"].as_int() > 0) asked += bullet + asked_text(row, "operator") + "\n";
  }
  for (const Json& row : evolution["arms"].items()) {
    asked += bullet + asked_text(row, "arm");
    if (!row["gone"].is_null()) asked += "; no longer asked: " + row["gone"].as_string();
    asked += "\n";
  }
  if (!asked.empty()) out += title("operators and models") + asked;
  if (const std::string reviewers = review::scoreboard_text(evolution["readers"]);
      !reviewers.empty())
    out += title("reviewers against the judge") +
           (markdown ? "```\n" + reviewers + "```\n" : reviewers);
  if (evolution["unseen_shapes"].items().empty()) return out;
  out += title("shapes it was not tuned for");
  for (const Json& row : evolution["unseen_shapes"].items())
    out += bullet + unseen_text(row) + "\n";
  return out;
}

Result<EvolveComparison> compare_reports(const std::vector<NamedReport>& reports) {
  std::vector<evolve::ComparedRun> list;
  for (const NamedReport& one : reports) list.push_back({one.name, one.report["evolution"]});
  EvolveComparison made;
  made.document = evolve::comparison_json(list);
  made.text = evolve::comparison_text(list, false);
  made.markdown = evolve::comparison_text(list, true);
  made.page = evolve::comparison_page(
      "Evolutions of " + reports.front().report["report"]["spec_name"].as_string(), list);
  made.page_path = reports.back().folder + "/comparison.html";
  // A run may be in a read-only folder; the tables are returned anyway.
  const Status written = os::write_file(made.page_path, made.page);
  if (!written) {
    made.page_path.clear();
    made.page_problem = written.error().message;
  }
  return made;
}

Result<EvolveComparison> compare_evolutions(const std::string& out,
                                            const std::vector<std::string>& runs) {
  std::vector<NamedReport> reports;
  for (const std::string& name : runs) {
    const std::string folder = KW_TRY(named_run(out, name));
    const store::Run run = KW_TRY(store::Run::open(folder, store::Access::Read));
    const Json report = run.report();
    if (report.is_null())
      return input_error(folder + " has no report yet; continue it with: evolve --resume " + name);
    if (report["evolution"].is_null()) return input_error(folder + " is not an evolve run");
    reports.push_back({run.id(), folder, report});
  }
  if (reports.size() < 2) return input_error("evolve compare needs two runs or more");
  return compare_reports(reports);
}

}  // namespace kw::workflows
