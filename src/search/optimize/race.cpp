// The branches of an iteration must be compared fairly with their parent. All are verified and
// timed in one race, together with the parent, because times of different races cannot be compared.
// Equal texts are raced once. A branch that is the parent unchanged, or that cannot be read, is a
// failed branch, not an Error. If the parent fails now, the machine has changed and the race is an
// Error. The fastest branch that passed is the champion, even if it is slower than its parent;
// closing decides about that. When all branches fail, the agent may fix them three times, then the
// iteration counts as failed.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "core/hash.h"
#include "core/json_writer.h"
#include "core/text.h"
#include "optimize/bench_file.h"
#include "optimize/branches.h"
#include "optimize/iteration_plan.h"
#include "optimize/records.h"
#include "optimize/steps.h"

namespace kw::optimize {
namespace {

/// One race of an iteration, from the files to branch_results.json.
class BranchRace {
 public:
  BranchRace(Folder& folder, OptimizeTools& tools, const CloseOptions& options)
      : folder_(folder), state_(folder.state), tools_(tools), options_(options) {}

  Result<Outcome> run() {
    KW_TRY(may(state_, Step::Branch, state_.iter));
    KW_TRY(check_frozen(folder_, tools_));
    const Outcome gate = KW_TRY(pass_gate());
    if (!gate.ok) return gate;
    branches_ = KW_TRY(read_branches(folder_, state_.iter));
    parent_ = KW_TRY(folder_.read(state_.best.file, kMostKernelBytes));
    KW_TRY(race());
    KW_TRY(write_benches());
    const std::optional<size_t> champion = fastest(all_);
    return champion ? adopt_champion(*champion - 1) : no_winner();
  }

 private:
  std::string name(const char* file) const { return Folder::in_iteration(state_.iter, file); }

  /// Checks methods.json before anything is compiled.
  Result<Outcome> pass_gate() {
    Outcome gate = KW_TRY(validate_methods(folder_, state_.iter));
    state_.overridden.clear();
    if (!gate.ok && options_.skip_validation && gate.document["errors"].items().empty()) {
      state_.overridden = strings_of(gate.document["refusals"]);
      gate.ok = true;
    }
    claimed_ = strings_of(gate.document["methods"]);
    if (!gate.ok) gate.text += "nothing was compiled\n";
    gate.document.set("status", "methods_refused").set("next_step", next_step(state_));
    return gate;
  }

  /// Races the usable kernels, each text once, the parent first.
  Status race() {
    std::vector<std::string> texts = {parent_};
    std::map<std::string, size_t> places = {{parent_, 0}};
    for (BranchFile& branch : branches_) {
      if (branch.text == parent_) branch.problem = "it is the parent, unchanged";
      if (!branch.problem.empty()) continue;
      if (places.try_emplace(branch.text, texts.size()).second) texts.push_back(branch.text);
    }
    if (options_.say)
      options_.say(fmt::format("judging and racing the parent and {} branches", texts.size() - 1));
    std::vector<ports::Outcome> raced;
    if (texts.size() > 1) raced = KW_TRY(optimize::race(*tools_.judge, texts));
    if (!raced.empty() && !passed(raced.front()))
      return environment_error("the parent {} passed before and does not pass now: {}",
                               state_.best.file, problem_of(raced.front()));
    all_ = {raced.empty() ? ports::Outcome{} : raced.front()};
    for (const BranchFile& branch : branches_) {
      ports::Outcome one = ports::Outcome::refusal(branch.problem);
      one.verdict = "rejected";
      all_.push_back(branch.problem.empty() ? raced[places.at(branch.text)] : one);
    }
    return Done{};
  }

  Status write_benches() {
    KW_TRY(folder_.write_json(name("parent_bench.json"),
                              bench_document(state_, state_.best.file, all_.front())));
    for (size_t i = 0; i < branches_.size(); ++i) {
      const std::string bench =
          name(fmt::format("branches/{}/bench.json", branches_[i].name).c_str());
      KW_TRY(folder_.write_json(bench, bench_document(state_, branches_[i].file, all_[i + 1])));
    }
    return Done{};
  }

  Json branch_row(size_t i) const {
    const ports::Outcome& raced = all_[i + 1];
    JsonWriter v;
    v("branch_index", branches_[i].index)("branch", branches_[i].name)("kernel", branches_[i].file);
    v("passed", passed(raced))("verdict", raced.verdict)("ms", ms_of(us_of(raced)));
    v("measured", raced.measured)("speedup", raced.ratio)("error", problem_of(raced));
    return v.take();
  }

  /// The branches that passed and are not the champion, with the difference from it.
  Json frontier(size_t champion) const {
    Json list = Json::array();
    const ports::Outcome& best = all_[champion + 1];
    for (size_t i = 0; i < branches_.size(); ++i) {
      const ports::Outcome& raced = all_[i + 1];
      if (i == champion || !passed(raced)) continue;
      std::string why = "it was not timed: " + problem_of(raced);
      std::optional<double> delta;
      if (raced.us > 0 && best.us > 0) {
        const double pct = 100 * (raced.us / best.us - 1);
        why = branches_[i].text == branches_[champion].text
                  ? fmt::format("the same text as {}", branches_[champion].name)
                  : fmt::format("{:.1f} % slower than {}{}", pct, branches_[champion].name,
                                raced.measured ? "" : " (estimated)");
        delta = (raced.us - best.us) / 1000;
      }
      JsonWriter v;
      v("iter", state_.iter)("branch_index", branches_[i].index)("kernel", branches_[i].file);
      v("ms", ms_of(us_of(raced)))("measured", raced.measured)("delta_from_champion", delta);
      list.push(v("methods", claimed_)("why", why).take());
    }
    return list;
  }

  Json results(const char* status, const Json& champion, const Json& rest) const {
    Json rows = Json::array();
    int64_t valid = 0;
    for (size_t i = 0; i < branches_.size(); ++i) {
      rows.push(branch_row(i));
      valid += passed(all_[i + 1]) ? 1 : 0;
    }
    JsonWriter v;
    v("iter", state_.iter)("status", status);
    v.group("parent", [this](auto& parent) {
      const ports::Outcome& raced = all_.front();
      parent("kernel", state_.best.file)("ms", ms_of(us_of(raced)))("measured", raced.measured);
    });
    v("champion", champion)("branches", rows)("frontier", rest);
    return v("total_branches", branches_.size())("valid_branches", valid).take();
  }

  std::string table() const {
    std::string text =
        fmt::format("  {:<6} {:<9} {:<28} {}\n", "parent", "passed",
                    time_text(us_of(all_.front()), all_.front().measured), state_.best.file);
    for (size_t i = 0; i < branches_.size(); ++i) {
      const ports::Outcome& raced = all_[i + 1];
      text += fmt::format("  {:<6} {:<9} {:<28} {}\n", branches_[i].name, raced.verdict,
                          time_text(us_of(raced), raced.measured),
                          raced.ratio ? ratio_text(*raced.ratio) : problem_of(raced));
    }
    return text;
  }

  Result<Outcome> adopt_champion(size_t champion) {
    const ports::Outcome& raced = all_[champion + 1];
    const BranchFile& branch = branches_[champion];
    forget_inputs(state_);
    KW_TRY(folder_.write_stamped(name("kernel.cu"), branch.text));
    KW_TRY(
        folder_.write_json(name("bench.json"), bench_document(state_, name("kernel.cu"), raced)));
    const std::string methods = KW_TRY(folder_.read(name("methods.json")));
    state_.stamps[name("methods.json")] = hash_hex(methods);
    for (const BranchFile& one : branches_) state_.stamps[one.file] = hash_hex(one.text);
    JsonWriter chosen;
    chosen("branch_index", branch.index)("kernel", name("kernel.cu"))("ms", ms_of(us_of(raced)));
    chosen("measured", raced.measured)("speedup", raced.ratio);
    const Json document = results("champion_selected", chosen.take(), frontier(champion));
    KW_TRY(folder_.write_stamped(name("branch_results.json"), document.dump(true) + "\n"));
    state_.champion = BestKernel{branch.name, us_of(raced), raced.measured, raced.ratio};
    state_.phase = Phase::Raced;
    KW_TRY(folder_.commit("branch", Json::object().set("champion", branch.name)));
    Outcome outcome;
    outcome.text = table() + fmt::format("champion: {}\n", branch.name);
    outcome.document = document;
    outcome.document.set("next_step", next_step(state_));
    return outcome;
  }

  Result<Outcome> no_winner() {
    const Json document = results("all_branches_failed", Json(), Json::array());
    KW_TRY(folder_.write_json(name("branch_results.json"), document));
    forget_inputs(state_);
    state_.champion.reset();
    state_.phase = Phase::Opened;
    Outcome outcome;
    outcome.ok = false;
    outcome.document = document;
    outcome.text = table();
    ++state_.retries;
    if (state_.retries > kMostRetries) {
      KW_TRY(record_failure(folder_, claimed_));
      outcome.text +=
          fmt::format("all branches failed for the {}th time: iteration {} is recorded as failed\n",
                      state_.retries, state_.iter);
    } else {
      outcome.text += fmt::format(
          "all branches failed: repair them, then run close-iter again ({} of {} retries left)\n",
          kMostRetries - state_.retries + 1, kMostRetries);
    }
    KW_TRY(folder_.commit("branch", Json::object().set("failed", state_.retries)));
    outcome.document.set("retries", state_.retries)
        .set("retries_left", std::max(0, kMostRetries - state_.retries + 1))
        .set("recorded", state_.phase == Phase::Closed)
        .set("next_step", next_step(state_));
    outcome.text += "next: " + next_step(state_) + "\n";
    return outcome;
  }

  Folder& folder_;
  State& state_;
  OptimizeTools& tools_;
  const CloseOptions& options_;
  std::vector<std::string> claimed_;
  std::vector<BranchFile> branches_;
  std::string parent_;
  std::vector<ports::Outcome> all_;  // the parent, then parallel to branches_
};

}  // namespace

Result<Outcome> branch(Folder& folder, OptimizeTools& tools, const CloseOptions& options) {
  return BranchRace(folder, tools, options).run();
}

}  // namespace kw::optimize
