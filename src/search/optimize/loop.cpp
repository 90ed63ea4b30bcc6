// Without an agent, an author must fill in what the agent would write: branches and methods.json.
// The loop uses the same steps and the same gate as an agent, so an automatic run has no shortcuts
// and can be continued by hand. Methods that the author cannot write are excluded before planning,
// so the budget goes to others. If the author offers nothing, the loop plans again without those
// methods, at most four times, the last time for tunables only. A separate search was the
// alternative; it would need its own rules. The loop ends at the iteration limit, near the peak, or
// when the author offers nothing.
#include "optimize/loop.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/contains.h"
#include "core/text.h"
#include "optimize/analysis.h"
#include "optimize/evidence.h"
#include "optimize/iteration_plan.h"
#include "optimize/records.h"
#include "os/files.h"
#include "profile/profile_text.h"

namespace kw::optimize {
namespace {

using Reasons = std::map<std::string, std::string>;

constexpr int kMostPlans = 4;  // per try, each without methods the author could not write

/// "id: why" -> {id, why}; without ": " the whole line is the id.
std::pair<std::string, std::string> split_reason(const std::string& line) {
  const size_t colon = line.find(": ");
  if (colon == std::string::npos) return {line, "the author cannot write it here"};
  return {line.substr(0, colon), line.substr(colon + 2)};
}

/// One run with one author.
class Loop {
 public:
  Loop(Folder& folder, OptimizeTools& tools, Author& author, const LoopOptions& options)
      : folder_(folder), state_(folder.state), tools_(tools), author_(author), options_(options) {}

  Result<Outcome> run() {
    std::string stopped;
    while (stopped.empty() && state_.phase != Phase::Finalized) {
      if (options_.cancelled && options_.cancelled())
        return environment_error("interrupted; continue with: kernelwright optimize --run-dir {}",
                                 shell_quote(folder_.path()));
      stopped = KW_TRY(step());
    }
    if (state_.phase == Phase::Finalized) return show_state(state_);
    Outcome outcome = KW_TRY(finalize(folder_, &tools_, true, options_.say));
    outcome.document.set("stopped", stopped);
    outcome.text = text_ + "stopped   " + stopped + "\n" + outcome.text;
    return outcome;
  }

 private:
  void say(const std::string& what) const {
    if (options_.say) options_.say(what);
  }

  /// Why the run ends; "" to continue.
  Result<std::string> step() {
    if (state_.phase == Phase::Ready || state_.phase == Phase::Closed) return open();
    if (state_.phase == Phase::Opened) {
      const std::string nothing = KW_TRY(write());
      if (!nothing.empty()) return nothing;
    }
    CloseOptions close;
    close.say = options_.say;
    const Outcome outcome = KW_TRY(close_iter(folder_, tools_, close));
    text_ += outcome.text;
    if (outcome.document["status"].as_string() == "methods_refused")
      return std::string("the methods of the author were refused");
    note_failures(outcome);
    return std::string();
  }

  Result<std::string> open() {
    if (state_.iter >= state_.settings.iterations)
      return fmt::format("all {} iterations are done", state_.settings.iterations);
    const Evidence evidence = KW_TRY(evidence_about(folder_, state_.best));
    if (evidence.roofline.near_peak && !options_.force)
      return std::string("near the peak: no further speedup is expected");
    say(fmt::format("iteration {}", state_.iter + 1));
    KW_TRY(open_iter(folder_, state_.iter + 1, options_.force));
    text_ += fmt::format("iteration {}\n", state_.iter);
    failures_.clear();
    return std::string();
  }

  /// Methods this author cannot write for this kernel, and methods tried since the best kernel but
  /// not adopted. A second try would give the same result.
  Reasons exclusions() {
    Reasons excluded;
    for (const catalog::Method& method : catalog::methods()) {
      if (method.expressible != catalog::Expressible::Module) continue;
      const std::string why = author_.cannot_apply(method.id, parent_);
      if (!why.empty()) excluded.emplace(method.id, why);
    }
    for (const Json& entry : state_.unverified.items()) {
      const std::string& id = entry["id"].as_string();
      if (entry["iter"].as_int() > state_.best.iter && !contains(state_.best.methods, id))
        excluded.emplace(
            id, fmt::format("tried in iteration {} without being faster", entry["iter"].as_int()));
    }
    return excluded;
  }

  Assignment assignment(const profile::Plan& plan, const Evidence& evidence) const {
    Assignment ask;
    ask.iteration = state_.iter;
    ask.retry = state_.retries;
    ask.branches = state_.settings.branches;
    ask.parent = parent_;
    for (const profile::Judged* one : plan.chosen) {
      ask.methods.push_back(one->method->id);
      ask.guidance.push_back(one->method->guidance);
    }
    for (const Json& entry : state_.effective.items()) {
      const std::string& id = entry["id"].as_string();
      // A method that a kernel added without a claim need not stay.
      if (!entry["claimed"].as_bool(true)) continue;
      if (contains(state_.best.methods, id) && !contains(ask.inherited, id))
        ask.inherited.push_back(id);
    }
    ask.evidence = profile::roofline_text(evidence.roofline) + "\n" +
                   profile::metrics_text(evidence.metrics) + "\n" + profile::plan_text(plan);
    ask.failures = failures_;
    ask.known = known();
    return ask;
  }

  /// The text of the baseline and of every branch of this run.
  std::vector<std::string> known() const {
    std::vector<std::string> texts;
    for (const std::string& pattern :
         {folder_.at("baseline/*.cu"), folder_.at("iterv*/branches/b*/kernel.cu")}) {
      for (const std::string& path : os::glob(pattern)) {
        const Result<std::string> text = folder_.read(path, kMostKernelBytes);
        if (text && !contains(texts, *text)) texts.push_back(*text);
      }
    }
    for (const std::string& text : tried_) {
      if (!contains(texts, text)) texts.push_back(text);
    }
    return texts;
  }

  /// Plans until the author offers a branch, the last time only for other tunables. Returns "" when
  /// files were written, otherwise why not.
  Result<std::string> write() {
    parent_ = KW_TRY(folder_.read(state_.best.file, kMostKernelBytes));
    const Evidence evidence = KW_TRY(evidence_about(folder_, state_.best));
    Reasons excluded = exclusions();
    for (int i = 0; i < kMostPlans; ++i) {
      const profile::Plan plan = KW_TRY(plan_iteration(state_, evidence, excluded));
      Assignment ask = assignment(plan, evidence);
      if (i + 1 == kMostPlans) {
        ask.methods.clear();
        ask.guidance.clear();
      }
      say(fmt::format("iteration {}: {} writes branches for {}", state_.iter, author_.name(),
                      ask.methods.empty() ? "other tunables" : join(ask.methods, ", ")));
      const BranchResult written = KW_TRY(author_.write(ask));
      for (const std::string& line : written.cannot) excluded.insert(split_reason(line));
      if (!written.branches.empty()) {
        KW_TRY(fill_in(plan, ask, evidence, written, excluded));
        return std::string();
      }
      if (ask.methods.empty()) break;
      for (const std::string& id : ask.methods)
        excluded.emplace(id, author_.name() + " offered no kernel with it");
    }
    const profile::Plan left = KW_TRY(plan_iteration(state_, evidence, excluded));
    KW_TRY(explain(left, evidence, {}, excluded));
    KW_TRY(note_nothing());
    return author_.name() + " has no untried method";
  }

  /// Ends the iteration without a try, or after failed tries only.
  Status note_nothing() {
    if (state_.retries > 0) {
      const std::string methods =
          KW_TRY(folder_.read(Folder::in_iteration(state_.iter, "methods.json")));
      KW_TRY(record_failure(folder_, read_claims(methods, state_.iter).ids));
      return folder_.commit("branches-failed");
    }
    record_no_kernel(state_, "nothing_to_try");
    state_.phase = Phase::Closed;
    return folder_.commit("nothing-to-try");
  }

  Status fill_in(const profile::Plan& plan, const Assignment& ask, const Evidence& evidence,
                 const BranchResult& written, const Reasons& excluded) {
    const auto name = [&](const std::string& file) {
      return Folder::in_iteration(state_.iter, file);
    };
    KW_TRY(folder_.remove(name("branches")));
    std::vector<std::string> notes;
    const size_t count =
        std::min(written.branches.size(), static_cast<size_t>(state_.settings.branches));
    for (size_t i = 0; i < count; ++i) {
      const Branch& branch = written.branches[i];
      KW_TRY(folder_.write(name(fmt::format("branches/b{}/kernel.cu", i + 1)), branch.text));
      notes.push_back(fmt::format("b{}: {}", i + 1, branch.note));
      tried_.push_back(branch.text);
    }
    std::vector<std::string> claimed;
    for (const std::string& id : ask.methods) {
      if (contains(written.applied, id)) claimed.push_back(id);
    }
    KW_TRY(folder_.write_json(name("methods.json"),
                              methods_document(plan, state_, state_.iter, claimed, excluded)));
    return explain(plan, evidence, notes, excluded);
  }

  /// Writes analysis.md with computed text.
  Status explain(const profile::Plan& plan, const Evidence& evidence,
                 const std::vector<std::string>& notes, const Reasons& excluded) const {
    std::vector<std::string> cannot;
    for (const auto& [id, why] : excluded) cannot.push_back(id + ": " + why);
    return folder_.write(Folder::in_iteration(state_.iter, "analysis.md"),
                         analysis_by(author_.name(), state_, evidence, plan, notes, cannot));
  }

  void note_failures(const Outcome& outcome) {
    failures_.clear();
    if (outcome.ok) return;
    for (const Json& row : outcome.document["branches"].items())
      failures_.push_back(fmt::format("{}: {}: {}", row["branch"].as_string(),
                                      row["verdict"].as_string(), row["error"].as_string()));
  }

  Folder& folder_;
  State& state_;
  OptimizeTools& tools_;
  Author& author_;
  const LoopOptions& options_;
  std::string parent_, text_;
  std::vector<std::string> failures_, tried_;
};

}  // namespace

Result<Outcome> optimize_all(Folder& folder, OptimizeTools& tools, Author& author,
                             const LoopOptions& options) {
  return Loop(folder, tools, author, options).run();
}

}  // namespace kw::optimize
