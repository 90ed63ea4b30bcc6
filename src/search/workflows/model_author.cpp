// A model can write methods that code generation does not have. This author sends one request per
// assignment: the parent, the chosen methods with guidance from the catalogue, the evidence and the
// failures of the last try. Budget, ledger, cassettes and transcripts are those of a synthesis, so
// the cost is known and a run can be replayed. The part of the prompt that never changes comes
// first, so providers can cache it. A method that no branch claims in its `method` lines counts as
// not applied. Letting the model edit files was the alternative; that is what agents do. Branches
// already tried are dropped.
#include <fmt/core.h>

#include "core/contains.h"
#include "core/text.h"
#include "kernel/methods.h"
#include "kernel/parse_module.h"
#include "os/files.h"
#include "os/interrupt.h"
#include "stages/model_branches.h"
#include "stages/model_journal.h"
#include "stages/model_session.h"
#include "workflows/kernel_spec.h"
#include "workflows/task_tools.h"

namespace kw::workflows {
namespace {

/// The plan lines for inputs and outputs, which every branch keeps.
std::string interface_of(const std::string& module) {
  static const std::vector<std::string> kWords = {"kernelwright", "task",   "input",
                                                  "param",        "saved",  "inout",
                                                  "output",       "scalar", "grad_output"};
  std::string out;
  for (const std::string_view line : split_lines(module)) {
    std::string_view rest = trim(line);
    if (!rest.starts_with("//!")) continue;
    rest = trim(rest.substr(3));
    const std::string word(rest.substr(0, rest.find(' ')));
    if (contains(kWords, word)) out += std::string(line) + "\n";
  }
  return out;
}

class ModelAuthor : public optimize::Author {
 public:
  ModelAuthor(TaskTools& tools, stages::ModelOptions options, single_run::Progress progress)
      : tools_(tools), options_(std::move(options)), progress_(std::move(progress)) {}

  Status open(const std::string& folder);
  std::string name() const override { return "llm"; }
  Result<optimize::BranchResult> write(const optimize::Assignment& assignment) override;
  /// A model may try every method that a module can express; the planner checks that.
  std::string cannot_apply(const std::string&, const std::string&) override { return ""; }

 private:
  Status fill_brief(const std::string& parent);
  llm::Outcome ask(const llm::ModelId& id, const llm::Request& request);
  void note_claims(const optimize::Assignment& assignment, optimize::BranchResult& written) const;

  TaskTools& tools_;
  stages::ModelOptions options_;
  single_run::Progress progress_;
  std::optional<store::Run> run_;
  std::unique_ptr<stages::ModelSession> session_;
  std::unique_ptr<stages::RunJournal> journal_;
  std::optional<stages::StageInput> input_;
};

Status ModelAuthor::open(const std::string& folder) {
  if (const auto config = llm::load_config()) stages::hide_keys(*config);
  if (options_.budget_usd && !(*options_.budget_usd >= 0))
    return input_error("--budget must be dollars, 0 or more");
  session_ = KW_TRY(stages::ModelSession::open(options_, 1));
  journal_ = std::make_unique<stages::RunJournal>(*session_, options_.transcripts);
  if (!options_.store_reference) journal_->hide(tools_.task().source);
  if (folder.empty()) return Done{};
  if (os::exists(folder + "/run.json")) {
    run_.emplace(KW_TRY(store::Run::open(folder, store::Access::Write)));
    session_->restore(stages::past_calls(*run_));
  } else {
    store::RunInputs inputs;
    inputs.name = tools_.task().name;
    if (options_.store_reference) inputs.reference = tools_.task().source;
    run_.emplace(KW_TRY(store::Run::create({"", folder}, inputs)));
  }
  return journal_->attach(*run_);
}

// The same for all assignments, so that providers can cache it.
Status ModelAuthor::fill_brief(const std::string& parent) {
  const arch::Target target = KW_TRY(arch::find_target(tools_.facts.target));
  stages::StageInput input;
  input.name = tools_.task().name;
  input.reference = tools_.task().source;
  input.interface = interface_of(parent);
  input.target = target_text(target, tools_.facts.target, target.default_sms, 0);
  input.spec =
      stages::to_json(KW_TRY(kernel_spec(tools_.task(), target, input.interface, ""))).dump(true);
  input_ = std::move(input);
  return Done{};
}

llm::Outcome ModelAuthor::ask(const llm::ModelId& id, const llm::Request& request) {
  if (progress_) progress_("asking " + id.text());
  llm::Watch watch;
  watch.on_text = [this, &id, bytes = size_t{0}](std::string_view text) mutable {
    bytes += text.size();
    if (progress_) progress_(fmt::format("{} answers, {} bytes so far", id.text(), bytes));
  };
  return session_->answer(id, request, watch);
}

void ModelAuthor::note_claims(const optimize::Assignment& assignment,
                              optimize::BranchResult& written) const {
  std::vector<std::string> claimed;
  for (const optimize::Branch& branch : written.branches) {
    const kernel::ParseOutcome parsed = kernel::parse(branch.text, "module.cu");
    if (!parsed.module) continue;
    const auto tunes = kernel::default_tunes(*parsed.module);
    if (!tunes) continue;
    for (std::string& id : kernel::active_methods(*parsed.module, *tunes))
      claimed.push_back(std::move(id));
  }
  for (const std::string& method : assignment.methods) {
    if (contains(claimed, method))
      written.applied.push_back(method);
    else
      written.cannot.push_back(method + ": no branch of the model claims it");
  }
}

Result<optimize::BranchResult> ModelAuthor::write(const optimize::Assignment& assignment) {
  if (!input_) KW_TRY(fill_brief(assignment.parent));
  stages::BranchesRequest request;
  request.iteration = assignment.iteration;
  request.retry = assignment.retry;
  request.branches = assignment.branches;
  request.parent = assignment.parent;
  request.methods = assignment.methods;
  request.inherited = assignment.inherited;
  request.guidance = assignment.guidance;
  request.evidence = assignment.evidence;
  request.failures = assignment.failures;
  const stages::BranchesOutcome outcome = KW_TRY(stages::write_branches(
      session_->plan(), *input_, request,
      [this](const llm::ModelId& id, const llm::Request& sent) { return ask(id, sent); },
      *journal_));
  KW_TRY(os::check_interrupted());
  if (outcome.provider) return outcome.provider->error().context("no branches were written");
  optimize::BranchResult written;
  const std::string model = session_->plan().model(stages::Stage::Performance).text();
  for (const std::string& text : outcome.modules) {
    if (!contains(assignment.known, text))
      written.branches.push_back(
          {text, fmt::format("branch {} by {}", written.branches.size() + 1, model)});
  }
  if (written.branches.empty()) {
    for (const std::string& method : assignment.methods)
      written.cannot.push_back(fmt::format(
          "{}: {}", method, outcome.problem.empty() ? "it was tried already" : outcome.problem));
    return written;
  }
  note_claims(assignment, written);
  return written;
}

}  // namespace

Result<std::unique_ptr<optimize::Author>> model_author(TaskTools& tools,
                                                       const stages::ModelOptions& options,
                                                       const std::string& folder,
                                                       single_run::Progress progress) {
  auto author = std::make_unique<ModelAuthor>(tools, options, std::move(progress));
  KW_TRY(author->open(folder));
  return std::unique_ptr<optimize::Author>(std::move(author));
}

}  // namespace kw::workflows
