// A folder of references from elsewhere contains some that we read, some that PyTorch must export,
// and some that do not work at all. Loading each one is the only certain answer, so screening loads
// every file and sorts the refusals by their words: those that a user or another machine can repair
// need review, the others are out of scope. The alternative, a list of known ops, would differ from
// what the tracer really reads. The cost: a message that changes may change its class (kMendable).
#include "verification/screen.h"

#include <algorithm>

#include "core/contains.h"
#include "core/json_writer.h"
#include "core/text.h"
#include "frontend/syntax.h"
#include "graph/graph.h"
#include "os/files.h"
#include "os/interrupt.h"
#include "reference/load_reference.h"
#include "task_formats/load.h"
#include "task_formats/suite.h"
#include "torch_worker/torch_python.h"

namespace kw::verification {

namespace {

struct ScopeRow {
  ScreenScope scope;
  const char* name;
};
constexpr ScopeRow kScopes[] = {
    {ScreenScope::InScope, "in_scope"},
    {ScreenScope::OutOfScope, "out_of_scope"},
    {ScreenScope::NeedsReview, "needs_review"},
};

/// Words in refusals that the user or another machine can fix.
constexpr const char* kMendable[] = {
    "install torch",    // torch.export may read it
    "not supported",    // torch.export may read it
    "pass --input",     // inputs without a description
    "pass --function",  // several callables
    "inputs of",        // their values are unknown
};

bool mendable(const std::string& message) {
  return std::ranges::any_of(
      kMendable, [&](const char* words) { return message.find(words) != std::string::npos; });
}

/// KernelBench's levels from 3 on are whole networks, not kernels. They are screened only when
/// named.
bool whole_model(const std::string& inside) {
  return inside.find("/level3/") != std::string::npos ||
         inside.find("/level4/") != std::string::npos;
}

std::string first_line(const std::string& message) {
  return std::string(trim(message.substr(0, message.find('\n'))));
}

/// Ops in the order of their first use. Leaves are left out.
std::vector<std::string> ops_of(const task::Task& task) {
  std::vector<std::string> names;
  const task::Dims& at = task.benchmark_shapes.empty() ? task.correctness_shapes.front()
                                                       : task.benchmark_shapes.front();
  const Result<graph::Graph> graph = task.graph_at(at);
  if (!graph) return names;
  for (const graph::Node& node : graph->nodes) {
    const bool named =
        !node.origin.empty() && node.origin.find_first_of(" ()[]*/+-,.") == std::string::npos;
    const std::string name = named ? node.origin : graph::op_info(node.op).name;
    if (node.inputs.empty() || contains(names, name)) continue;
    names.push_back(name);
  }
  return names;
}

void accept(const task::Task& task, const char* reader, Screened* screened) {
  screened->scope = ScreenScope::InScope;
  screened->reader = reader;
  screened->ops = ops_of(task);
  screened->reason = screened->ops.empty() ? "moves its inputs only" : join(screened->ops, ", ");
}

/// Torch is asked only if our own reader refuses the file and torch is installed.
Result<Screened> screen_one(const task_formats::SuiteTask& file,
                            const std::shared_ptr<torch_worker::TorchProcess>& torch,
                            const std::string& mode) {
  Screened screened;
  screened.name = file.name;
  screened.path = file.path;
  task_formats::LoadOptions options;
  options.evaluation = mode == "eval";
  const Result<task::Task> own = task_formats::load_task(file.path, options);
  if (own) {
    accept(*own, "own", &screened);
    return screened;
  }
  if (own.error().blame != Blame::Input) return own.error();
  screened.detail = own.error().message;
  screened.reason = first_line(own.error().message);
  if (own.error().message.find(frontend::kSyntaxMark) != std::string::npos) {
    screened.scope =
        ScreenScope::NeedsReview;  // a newer Python may read it, or the user may fix it
    return screened;
  }
  if (!mendable(own.error().message)) return screened;
  const torch_worker::FoundPython python = torch_worker::find_torch_python();
  if (!python.forbidden.empty())
    screened.reason += "; PyTorch may read it by running it, but " + python.forbidden;
  if (torch != nullptr && !python.path.empty()) {
    const Result<task::Task> exported =
        reference::load_reference({file.path, "", {}, {}, torch, false, {}, mode});
    if (exported) {
      accept(*exported, "torch.export", &screened);
      return screened;
    }
    screened.detail = exported.error().message;
    if (screened.detail.find("torch.export does not read it") != std::string::npos) {
      screened.reason += ", and torch.export does not read it either";
      return screened;
    }
  }
  screened.scope = ScreenScope::NeedsReview;
  return screened;
}

}  // namespace

const char* scope_name(ScreenScope scope) {
  return std::ranges::find(kScopes, scope, &ScopeRow::scope)->name;
}

Result<std::vector<Screened>> screen(const std::string& path, const single_run::Progress& progress,
                                     std::shared_ptr<torch_worker::TorchProcess> torch,
                                     const std::string& mode) {
  if (!os::exists(path)) return input_error("there is no file or folder '{}'", path);
  // A folder may have the name of a built-in suite.
  const bool plain = task_formats::is_carried(path);
  const task_formats::Suite suite =
      KW_TRY(task_formats::open_suite(plain ? "./" + path : path, ""));
  std::vector<Screened> all;
  for (const task_formats::SuiteTask& file : suite.tasks) {
    KW_TRY(os::check_interrupted());
    if (whole_model(file.path.substr(std::min(path.size(), file.path.size())))) continue;
    if (progress) progress("checking " + file.name);
    all.push_back(KW_TRY(screen_one(file, torch, mode)));
  }
  return all;
}

void fields(auto& v, Screened& s) {
  v("name", s.name)("path", s.path)("scope", computed(scope_name(s.scope)))("reader", s.reader);
  v("reason", s.reason)("ops", s.ops)("detail", s.detail, Zero::Omit);
}

Json to_json(const Screened& screened) { return record_json(screened); }

}  // namespace kw::verification
