// evolve is synthesize with generations, so it fills the same request and adds the options of
// evolution. There are three further forms: --resume continues a run, `compare` compares runs, and
// --compare runs four evolutions with more and more features on. The four use the seed of the
// first, so that differences come from the features and not from chance.
// Four separate commands would be shorter each, but would share most options. The cost: a resumed
// run accepts only some options again, and the others are refused instead of ignored.
#include <array>

#include "commands/command.h"
#include "commands/kernel_commands.h"
#include "commands/model_options.h"
#include "commands/synthesize_text.h"
#include "commands/values.h"
#include "core/json_writer.h"
#include "core/text.h"
#include "evolve/ensemble.h"
#include "os/files.h"
#include "os/permissions.h"
#include "workflows/evolve.h"
#include "workflows/synthesize.h"

namespace kw::commands {
namespace {

constexpr uint64_t kMostEnsembleBytes = uint64_t{1} << 16;

/// Reads --ensemble: a file with an arm per line, or the arms themselves.
Result<std::vector<std::string>> ensemble_option(const Args& args) {
  std::vector<std::string> names;
  const std::string text = args.one("--ensemble");
  if (args.all("--ensemble").empty()) return names;
  std::vector<evolve::Arm> arms;
  if (!os::is_served() && os::exists(text) && !os::is_directory(text)) {
    const std::string lines = KW_TRY(os::read_file(text, kMostEnsembleBytes));
    arms = KW_TRY(evolve::parse_ensemble_lines(lines));
  } else {
    arms = KW_TRY(evolve::parse_ensemble(text));
  }
  for (const evolve::Arm& arm : arms) names.push_back(arm.name());
  return names;
}

Result<workflows::EvolveRequest> generations_option(const Args& args) {
  workflows::EvolveRequest evolve;
  evolve.generations = args.integer("--generations");
  evolve.proposals = args.integer("--proposals");
  // The default of --hardware is 4, but never more than --proposals.
  const int64_t half = std::max<int64_t>(1, std::min<int64_t>(4, evolve.proposals));
  evolve.hardware = args.integer("--hardware", half);
  evolve.islands = args.integer("--islands");
  evolve.in_flight = args.integer("--in-flight");
  for (const std::string& word : args.all("--mode")) {
    if (word != "eval" && word != "train") evolve.mode = word;
  }
  const VerifierOptions before = KW_TRY(verifier_options(args));
  evolve.verifiers = before.on;
  evolve.reviewers = before.reviewers;
  evolve.shape_info = args.on("--shape-info");
  evolve.profile_feedback = args.on("--profile-feedback");
  evolve.ensemble = KW_TRY(ensemble_option(args));
  if (args.given("--seed")) evolve.seed = static_cast<uint64_t>(args.integer("--seed"));
  KW_TRY(workflows::check_evolve(evolve));
  return evolve;
}

Result<workflows::SynthesizeRequest> evolve_request(const Args& args, Io& io) {
  workflows::SynthesizeRequest request;
  if (args.positionals.size() != 1)
    return input_error("evolve needs one TASK: a Python file or a task folder");
  KW_TRY(name_reference(args.positionals.front(), args.one("--function"), request));
  KW_TRY(read_synthesis_options(args, io, request));
  request.out = args.one("--out");
  request.evolve = KW_TRY(generations_option(args));
  // A user who names an ensemble expects its models to be asked.
  if (request.proposer == "auto" && !request.evolve->ensemble.empty()) request.proposer = "hybrid";
  return request;
}

std::string evolution_words(const workflows::SynthesisReport& report) {
  if (report.document["evolution"].is_null()) return "";
  return "\n" + workflows::evolution_text(report.document["evolution"], false);
}

Result<int> resume_evolution(const Args& args, Io& io) {
  KW_TRY(check_given_again(args));
  if (!args.positionals.empty())
    return input_error("evolve --resume RUN takes no TASK: the run has its own");
  workflows::ContinueRequest request;
  request.folder = KW_TRY(workflows::named_run(args.one("--out"), args.one("--resume")));
  workflows::EvolveResumeOptions again;
  again.ensemble = KW_TRY(ensemble_option(args));
  if (args.given("--generations")) again.generations = args.integer("--generations");
  if (again.generations && *again.generations < 1)
    return input_error("--generations: '{}' is not a whole number from 1 to 1000000",
                       args.one("--generations"));
  request.evolve = again;
  KW_TRY(continue_options(args, request));
  const auto report = KW_TRY(resume_run(request, io));
  return finish_job(report, io, evolution_words(report));
}

int show_comparison(const workflows::EvolveComparison& comparison, int code, const Json& runs,
                    Io& io) {
  io.print(comparison.text + (comparison.page_path.empty()
                                  ? "\nno page: " + comparison.page_problem + "\n"
                                  : "\nas a page: " + comparison.page_path + "\n"));
  JsonWriter v;
  v("comparison", comparison.document)("markdown", comparison.markdown);
  v("page", comparison.page_path, Zero::Null)("runs", runs, When{!runs.is_null()});
  return io.finish(code, v.take());
}

Result<int> compare_runs(const Args& args, Io& io) {
  const std::vector<std::string> names(args.positionals.begin() + 1, args.positionals.end());
  const auto comparison = KW_TRY(workflows::compare_evolutions(args.one("--out"), names));
  return show_comparison(comparison, kOk, Json(), io);
}

/// The features that are on in each run of a comparison.
struct ArmsRow {
  const char* name;
  bool verifiers, shape_info, profile_feedback;
};
constexpr std::array kArmsRows = {ArmsRow{"base", false, false, false},
                                  ArmsRow{"verifiers", true, false, false},
                                  ArmsRow{"verifiers+shapes", true, true, false},
                                  ArmsRow{"verifiers+shapes+profile", true, true, true}};

/// Runs the same evolution with more and more features on.
Result<int> compare_arms(workflows::SynthesizeRequest request, Io& io) {
  std::vector<workflows::NamedReport> reports;
  Json runs = Json::array();
  int code = kOk;
  const review::SoftVerifyOptions reviewers = request.evolve->reviewers;
  for (const ArmsRow& row : kArmsRows) {
    request.evolve->verifiers = row.verifiers;
    // Reviewers are verifiers too: without verifiers no model reviews.
    request.evolve->reviewers = row.verifiers ? reviewers : review::SoftVerifyOptions{};
    request.evolve->shape_info = row.shape_info;
    request.evolve->profile_feedback = row.profile_feedback;
    const auto report = KW_TRY(make_kernel(request, io));
    reports.push_back({row.name, report.folder, report.document});
    JsonWriter v;
    v("name", row.name)("run", report.run_id)("folder", report.folder)("passed", report.passed);
    runs.push(v.take());
    if (report_code(report) != kOk) code = report_code(report);
    if (report.interrupted) break;
    // All runs use one seed, so that a difference comes from the features and not from chance.
    if (!request.evolve->seed)
      request.evolve->seed =
          static_cast<uint64_t>(report.document["search"]["order_seed"].as_int());
  }
  return show_comparison(KW_TRY(workflows::compare_reports(reports)), code, runs, io);
}

}  // namespace

Result<int> evolve_command(const Args& args, Io& io) {
  if (!args.all("--resume").empty()) return resume_evolution(args, io);
  if (!args.positionals.empty() && args.positionals.front() == "compare")
    return compare_runs(args, io);
  const auto request = KW_TRY(evolve_request(args, io));
  if (args.has("--compare")) return compare_arms(request, io);
  const auto report = KW_TRY(make_kernel(request, io));
  return finish_job(report, io, evolution_words(report));
}

}  // namespace kw::commands
