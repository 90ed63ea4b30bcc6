// The reference says what to compute; options and prompt say at which shapes, with which precision
// and for which GPU. This file reads all of them into one task. Options come before the prompt, and
// the prompt before the reference's own shapes. Input lines that the reference needs are looked for
// in the options, then in the prompt's phrases, then a model is asked. A phrase that is not
// followed says so in its effect, because a user must see what the prompt changed. Letting a model
// read every prompt was the alternative; it costs money, and phrases are read the same way each
// time.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "arch/arch.h"
#include "core/text.h"
#include "plan/codegen.h"
#include "workflows/synthesis_steps.h"

namespace kw::workflows {
namespace {

std::vector<std::string> words_of_name(const std::string& path, const std::string& function) {
  std::string stem = path.substr(path.rfind('/') + 1);
  stem = stem.substr(0, stem.rfind('.'));
  std::vector<std::string> words;
  for (const std::string& name : {stem, function}) {
    std::string joined;
    for (const std::string& part : split(name, '_')) {
      if (!part.empty()) words.push_back(part);
      joined += part;
    }
    words.push_back(name);
    words.push_back(joined);
  }
  return words;
}

Result<task::Task> load_task(Session& session) {
  SynthesizeRequest& request = session.request;
  reference::ReferenceRequest ask{
      request.reference, request.function, request.inputs, request.dims, session.torch, false, {},
      request.mode,      request.device};
  Result<task::Task> task = reference::load_reference(ask);
  const auto try_inputs = [&](std::vector<std::string> inputs) {
    if (inputs.empty()) return;
    request.inputs = ask.inputs = std::move(inputs);
    task = reference::load_reference(ask);
  };
  if (!task && request.inputs.empty())
    try_inputs(reference::inputs_from_prompt(session.prompt, task.error().message));
  if (!task && request.inputs.empty())
    try_inputs(KW_TRY(inputs_from_model(session, task.error().message)));
  return task;
}

Status apply_precision(Session& session) {
  std::string words = session.request.precision;
  for (reference::Phrase& phrase : session.prompt.phrases) {
    if (phrase.kind != reference::PhraseKind::Precision) continue;
    words += (words.empty() ? "" : ",") + phrase.value;
    phrase.effect = "precision " + phrase.value;
  }
  return reference::read_precision(words, session.task->precision);
}

/// Those extents of an input that are dims of the task.
std::vector<std::string> dims_of(const task::Task& task, const task::TensorSpec& input) {
  std::vector<std::string> names;
  for (const std::string& extent : input.shape) {
    if (task.dims.count(extent) > 0) names.push_back(extent);
  }
  return names;
}

// Sets the dims of the input with the most dims to equal extents with that many elements.
Status apply_elements(Session& session) {
  task::Task& task = *session.task;
  if (session.request.elements == 0 || !session.request.dims.empty()) return Done{};
  std::set<std::string> names;
  for (const task::TensorSpec& input : task.inputs) {
    const std::vector<std::string> dims = dims_of(task, input);
    std::set<std::string> own(dims.begin(), dims.end());
    if (own.size() > names.size()) names = std::move(own);
  }
  if (names.empty()) {
    session.report.warnings.push_back("--elements: the reference's shapes are fixed");
    return Done{};
  }
  task::Dims dims = task.benchmark_shapes.front();
  const double root = std::pow(static_cast<double>(session.request.elements),
                               1.0 / static_cast<double>(names.size()));
  for (const std::string& name : names) dims[name] = std::max<int64_t>(1, std::llround(root));
  auto traced = task.graph_at(dims);
  if (!traced) return std::move(traced).error().context("--elements: " + task::dims_text(dims));
  task.benchmark_shapes = {dims};
  return Done{};
}

void apply_shape(task::Task& task, reference::Phrase& shape) {
  if (task.inputs.empty()) return;
  const std::vector<std::string> names = dims_of(task, task.inputs.front());
  const std::vector<std::string> numbers = split(shape.value, 'x');
  if (names.size() != numbers.size()) return;
  task::Dims dims = task.benchmark_shapes.front();
  for (size_t i = 0; i < names.size(); ++i)
    dims[names[i]] = parse_int(numbers[i]).value_or(dims[names[i]]);
  task.benchmark_shapes = {dims};
  shape.effect = "fast at " + task::dims_text(dims);
}

// Applies the shape and the target GPU of the prompt. The reference gives everything else.
Status apply_prompt(Session& session) {
  reference::PromptReading& prompt = session.prompt;
  task::Task& task = *session.task;
  if (reference::Phrase* shape = prompt.find(reference::PhraseKind::Shape);
      shape != nullptr && session.request.dims.empty())
    apply_shape(task, *shape);
  if (reference::Phrase* said = prompt.find(reference::PhraseKind::Priority)) {
    order_shapes(task, said->value);
    const size_t shapes = task.benchmark_shapes.size();
    said->effect = said->value == "balanced" && shapes > 1
                       ? fmt::format("fast at all {} benchmark shapes", shapes)
                       : "fast at " + task::dims_text(task.benchmark_shapes.front());
  }
  if (reference::Phrase* arch = prompt.find(reference::PhraseKind::Arch)) {
    std::string& target = session.request.target;
    KW_TRY(arch::find_target(arch->value));
    if (target == "auto") target = arch->value;
    arch->effect =
        target == arch->value ? "target " + arch->value : "not followed: --target " + target;
  }
  for (std::string& one : reference::check_prompt(prompt, task))
    session.report.warnings.push_back(std::move(one));
  if (!prompt.unused.empty())
    session.report.warnings.push_back("not understood in the prompt: " + join(prompt.unused, "; "));
  return Done{};
}

}  // namespace

// Small shapes are latency-bound, large ones throughput-bound.
void order_shapes(task::Task& task, const std::string& priority) {
  if (priority == "balanced") return;
  const auto volume = [](const task::Dims& dims) {
    double product = 1;
    for (const auto& [name, value] : dims) product *= static_cast<double>(value);
    return product;
  };
  std::ranges::stable_sort(task.benchmark_shapes, {}, volume);
  if (priority == "throughput") std::ranges::reverse(task.benchmark_shapes);
}

/// Says for which extents kernels are made; at other shapes they do not run, or differ.
static void note_frozen(task::Task& task) {
  const Result<std::vector<std::string>> frozen = generate::frozen_dims(task);
  if (!frozen || frozen->empty()) return;
  std::string values = join(*frozen, ", ");
  task.notes.push_back("compiled for " + replace_all(values, " == ", "=") +
                       ": the extent decides more than shapes");
}

Status read_reference(Session& session) {
  const SynthesizeRequest& request = session.request;
  session.prompt =
      reference::read_prompt(request.prompt, words_of_name(request.reference, request.function));
  task::Task& task = session.task.emplace(KW_TRY(load_task(session)));
  if (!session.kept_name.empty()) task.name = session.kept_name;
  session.reference_text = task.source;
  if (!request.prompt.empty()) task.prompt = request.prompt;
  KW_TRY(apply_precision(session));
  KW_TRY(apply_elements(session));
  KW_TRY(apply_prompt(session));
  session.report.task_name = task.name;
  note_frozen(task);
  for (const std::string& note : task.notes) session.report.notes.push_back(note);
  return Done{};
}

}  // namespace kw::workflows
