// optimize works in steps (setup, open-iter, close-iter, …), because an agent writes kernels
// between them, and the state is in the run folder. Each step is a row of a table: it opens the
// folder, checks that the step is allowed now, and opens devices only if it needs them. Without a
// step, the whole loop runs with an author: code generation or a model. One long command would be
// simpler, but an agent could not look at evidence and decide. The cost: each such step opens the
// devices again, with the settings that setup stored, so that all times come from the same
// conditions.
#include <algorithm>

#include "commands/command.h"
#include "commands/model_options.h"
#include "commands/optimize_run.h"
#include "commands/values.h"
#include "core/text.h"
#include "optimize/loop.h"
#include "optimize/summary_page.h"
#include "os/interrupt.h"

namespace kw::commands {
namespace {

using optimize::Folder;
using optimize::Outcome;
using optimize::Step;

Result<int> finish_outcome(const Result<Outcome>& outcome, Io& io) {
  io.progress("");
  if (!outcome) return outcome.error();
  io.print(outcome->text);
  return io.finish(outcome->ok ? kOk : kCandidateFailed, outcome->document);
}

Result<std::string> run_dir(const Args& args) {
  std::string path = args.one("--run-dir");
  if (path.empty())
    return input_error("missing required option --run-dir DIR: the folder of the run");
  return path;
}

Result<Folder> open_folder(const Args& args) {
  const std::string path = KW_TRY(run_dir(args));
  return Folder::open(path);
}

using TaskToolsPtr = std::unique_ptr<workflows::TaskTools>;

Result<TaskToolsPtr> new_tools(const Args& args, Io& io) {
  const workflows::TaskToolsRequest request = KW_TRY(task_tools_request(args));
  return open_optimize_tools(request, io);
}

/// The tools with the settings that the run stored at setup.
Result<TaskToolsPtr> same_tools(const optimize::State& state, const Args& args, Io& io) {
  const workflows::TaskToolsRequest request = KW_TRY(task_tools_request(state.settings, args));
  return open_optimize_tools(request, io);
}

/// --iter, or the iteration that the step applies to.
Result<int> iteration(const Args& args, const Folder& folder, Step step) {
  // Before the first iteration this is 0, and the step then says what to do instead.
  const int usual = optimize::default_iteration(folder.state, step);
  return static_cast<int>(args.integer("--iter", usual));
}

optimize::Say say_to(Io& io) {
  return [&io](const std::string& what) { io.progress(what); };
}

/// --baseline, or the word after the command.
Result<std::string> kernel_option(const Args& args, size_t at) {
  const std::string named = args.one("--baseline");
  const bool word = args.positionals.size() > at;
  if (!named.empty() && word)
    return input_error("the kernel is given twice, as an argument and by --baseline; give it once");
  if (named.empty() && !word)
    return input_error("missing kernel; give a kernel module as an argument or by --baseline");
  return word ? args.positionals[at] : named;
}

Result<Outcome> setup_step(const Args& args, Io& io) {
  const std::string kernel = KW_TRY(kernel_option(args, 1));
  const auto tools = KW_TRY(new_tools(args, io));
  const auto request = KW_TRY(setup_request(args, kernel, "agent", *tools, io));
  std::optional<Folder> made;
  return optimize::setup(request, *tools, made, say_to(io));
}

Result<Outcome> preflight_step(const Args& args, Io& io) {
  if (!args.one("--run-dir").empty()) {
    const optimize::State state = KW_TRY(Folder::look(args.one("--run-dir")));
    const auto tools = KW_TRY(same_tools(state, args, io));
    const Folder folder = KW_TRY(Folder::open(args.one("--run-dir")));
    return optimize::preflight(folder, *tools);
  }
  const std::string kernel = KW_TRY(kernel_option(args, 1));
  const auto tools = KW_TRY(new_tools(args, io));
  const auto request = KW_TRY(setup_request(args, kernel, "agent", *tools, io));
  return optimize::preflight(request, *tools);
}

Result<Outcome> open_step(const Args& args, Io&) {
  Folder folder = KW_TRY(open_folder(args));
  const int at = KW_TRY(iteration(args, folder, Step::OpenIter));
  return optimize::open_iter(folder, at, args.has("--force"));
}

Result<Outcome> validate_step(const Args& args, Io&) {
  const Folder folder = KW_TRY(open_folder(args));
  const int at = KW_TRY(iteration(args, folder, Step::Validate));
  return optimize::validate_methods(folder, at);
}

Result<Outcome> roofline_step(const Args& args, Io&) {
  const Folder folder = KW_TRY(open_folder(args));
  const int at = KW_TRY(iteration(args, folder, Step::Roofline));
  return optimize::show_roofline(folder, at);
}

using DeviceStep = Result<Outcome> (*)(Folder&, optimize::OptimizeTools&,
                                       const optimize::CloseOptions&);

/// A step on the open iteration that needs the devices.
Result<Outcome> device_step(const Args& args, Io& io, Step step, DeviceStep run) {
  Folder folder = KW_TRY(open_folder(args));
  const int at = KW_TRY(iteration(args, folder, step));
  KW_TRY(optimize::may(folder.state, step, at));
  const auto tools = KW_TRY(same_tools(folder.state, args, io));
  optimize::CloseOptions options;
  options.skip_validation = args.has("--skip-validation");
  options.say = say_to(io);
  return run(folder, *tools, options);
}

Result<Outcome> branch_step(const Args& args, Io& io) {
  return device_step(args, io, Step::Branch, optimize::branch);
}
Result<Outcome> ablate_step(const Args& args, Io& io) {
  return device_step(args, io, Step::Ablate, optimize::ablate);
}
Result<Outcome> sass_step(const Args& args, Io& io) {
  return device_step(args, io, Step::Sass, optimize::check_sass);
}
Result<Outcome> close_step(const Args& args, Io& io) {
  return device_step(args, io, Step::CloseIter, optimize::close_iter);
}

Result<Outcome> finalize_step(const Args& args, Io& io) {
  Folder folder = KW_TRY(open_folder(args));
  const bool force = args.has("--force");
  KW_TRY(optimize::may(folder.state, Step::Finalize, folder.state.iter, force));
  const bool race = folder.state.best.iter > 0 && folder.state.has_clock;
  if (!race) return optimize::finalize(folder, nullptr, force, say_to(io));
  const auto tools = same_tools(folder.state, args, io);
  if (!tools) io.note("the speedup was not measured again: " + tools.error().message);
  return optimize::finalize(folder, tools ? tools->get() : nullptr, force, say_to(io));
}

Result<Outcome> state_step(const Args& args, Io&) {
  const std::string path = KW_TRY(run_dir(args));
  const optimize::State state =
      KW_TRY(args.has("--restore") ? Folder::restore(path) : Folder::look(path));
  return optimize::show_state(state);
}

Result<Outcome> summary_step(const Args& args, Io&) {
  const std::string path = KW_TRY(run_dir(args));
  const optimize::State state = KW_TRY(Folder::look(path));
  Outcome outcome;
  outcome.text = optimize::summary_text(state);
  outcome.document.set("run_dir", state.run_dir)
      .set("phase", optimize::phase_name(state.phase))
      .set("summary", outcome.text);
  return outcome;
}

struct StepRow {
  const char* name;
  Result<Outcome> (*run)(const Args& args, Io& io);
};
constexpr StepRow kSteps[] = {
    {"setup", setup_step},       {"preflight", preflight_step},
    {"open-iter", open_step},    {"validate-methods", validate_step},
    {"roofline", roofline_step}, {"branch", branch_step},
    {"ablate", ablate_step},     {"sass", sass_step},
    {"close-iter", close_step},  {"finalize", finalize_step},
    {"state", state_step},       {"summary", summary_step},
};

/// `folder` stores the exchanges with a model; "": they are not stored yet.
Result<std::unique_ptr<optimize::Author>> open_author(const std::string& proposer,
                                                      workflows::TaskTools& tools,
                                                      const std::string& folder, const Args& args,
                                                      Io& io) {
  if (proposer == "builtin") return workflows::builtin_author(tools);
  if (proposer == "llm") {
    return workflows::model_author(tools, KW_TRY(model_options(args, io)), folder,
                                   [&io](const std::string& what) { io.progress(what); });
  }
  const std::vector<std::string> names = options::choices_of(*args.command->find("--proposer"));
  return input_error("--proposer: '{}' is not one of {}{}", proposer, join(names, ", "),
                     did_you_mean(proposer, names));
}

Result<Outcome> run_all(Folder& folder, workflows::TaskTools& tools, const Args& args, Io& io) {
  const auto author =
      KW_TRY(open_author(folder.state.settings.proposer, tools, folder.at("models"), args, io));
  optimize::LoopOptions options;
  options.force = args.has("--force");
  options.cancelled = os::interrupted;
  options.say = say_to(io);
  return optimize::optimize_all(folder, tools, *author, options);
}

/// Continues an existing run without an agent.
Result<Outcome> go_on_alone(const Args& args, Io& io) {
  Folder folder = KW_TRY(Folder::open(args.one("--run-dir")));
  if (args.given("--proposer")) folder.state.settings.proposer = args.one("--proposer");
  if (folder.state.settings.proposer == "agent")
    return input_error(
        "an agent runs this optimisation: continue with the steps, or give --proposer builtin");
  const auto tools = KW_TRY(same_tools(folder.state, args, io));
  return run_all(folder, *tools, args, io);
}

/// Runs setup and, unless an agent does the rest, the whole loop.
Result<Outcome> whole_run(const Args& args, Io& io) {
  const std::string proposer = args.one("--proposer");
  const std::string kernel = KW_TRY(kernel_option(args, 0));
  const auto tools = KW_TRY(new_tools(args, io));
  std::unique_ptr<optimize::Author> author;
  if (proposer != "agent") author = KW_TRY(open_author(proposer, *tools, "", args, io));
  const auto request = KW_TRY(setup_request(args, kernel, proposer, *tools, io));
  std::optional<Folder> made;
  const Outcome begun = KW_TRY(optimize::setup(request, *tools, made, say_to(io)));
  if (!made || proposer == "agent") return begun;
  author.reset();
  io.print(begun.text);
  return run_all(*made, *tools, args, io);
}

std::vector<std::string> step_names() {
  std::vector<std::string> names;
  for (const StepRow& row : kSteps) names.emplace_back(row.name);
  return names;
}

}  // namespace

Result<int> optimize_command(const Args& args, Io& io) {
  const std::string word = args.positionals.empty() ? "" : args.positionals.front();
  const auto* row =
      std::ranges::find_if(kSteps, [&](const StepRow& one) { return word == one.name; });
  const bool takes_kernel = row != std::end(kSteps) && (word == "setup" || word == "preflight");
  const size_t most = takes_kernel ? 2 : 1;
  if (args.positionals.size() > most)
    return input_error("'{}' was not expected{}", args.positionals[most],
                       row == std::end(kSteps) ? did_you_mean(word, step_names()) : std::string());
  if (row != std::end(kSteps)) return finish_outcome(row->run(args, io), io);
  if (word.empty() && !args.one("--run-dir").empty() && args.one("--baseline").empty())
    return finish_outcome(go_on_alone(args, io), io);
  if (!args.one("--run-dir").empty())
    return input_error("there is no step '{}'{}; see 'kernelwright help optimize'", word,
                       did_you_mean(word, step_names()));
  return finish_outcome(whole_run(args, io), io);
}

}  // namespace kw::commands
