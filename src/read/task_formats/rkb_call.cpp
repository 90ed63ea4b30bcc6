// The problem: a harness must call a candidate with the same arguments as the robust-kbench folder
// does. The choice: evaluate the folder's own code with a Python candidate that notes its
// arguments. Each noted value is then matched with a tensor or a number of the task. The
// alternative, reading the call from the syntax tree, misses values that are computed or renamed.
// The cost: a call with a tensor that was computed for it cannot be described; the result is then
// empty.
#include "task_formats/rkb_call.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/contains.h"
#include "frontend/cell.h"
#include "frontend/python_tracer.h"
#include "frontend/syntax.h"
#include "frontend/trace.h"
#include "graph/derive.h"

namespace kw::task_formats {
namespace {

using Kind = task::CallValue::Kind;

constexpr const char* kLookingCandidate = R"(

noted_arguments = []

class NotedContext:
    needs_input_grad = (True,) * 64

    def save_for_backward(self, *tensors):
        self.saved_tensors = tensors

    def mark_non_differentiable(self, *tensors):
        pass

    def set_materialize_grads(self, value):
        pass

def noted_candidate(*arguments, **keywords):
    noted_arguments.append(list(arguments) + list(keywords.values()))
    return forward_fn(*arguments, **keywords)

def noted_forward(arguments):
    context = NotedContext()
    return context, AutogradFunction.forward(context, *arguments)

def noted_backward(context, gradients, results):
    def candidate(*arguments, **keywords):
        noted_arguments.append(list(arguments) + list(keywords.values()))
        return results

    AutogradFunction.backward_fn = candidate
    return AutogradFunction.backward(context, *gradients)
)";

class Looking {
 public:
  Looking(const task::Task& forward, frontend::PreparedEntry& staged)
      : forward_(forward), staged_(staged) {}

  Status look_forward(task::Call* call) {
    given_ = KW_TRY(given_to_candidate());
    call->arguments = KW_TRY(read_all(given_));
    return Done{};
  }

  Status look_backward(task::Call* call) {
    given_ = KW_TRY(given_to_candidate());
    const frontend::Value begun = KW_TRY(invoke("noted_forward", {frontend::make_list(given_)}));
    const std::vector<frontend::Value>& pair = *frontend::items_of(begun);
    const frontend::Value gradients = KW_TRY(upstream(pair[1]));
    // The number of results is unknown: the first number that backward() accepts is taken.
    for (size_t count = 0; count <= given_.size(); ++count) {
      const auto returned =
          invoke("noted_backward", {pair[0], gradients, results_of(static_cast<int>(count))});
      if (!returned || !name_results(*returned, std::max<size_t>(count, 1), call)) continue;
      const std::vector<frontend::Value> last = KW_TRY(last_given());
      call->arguments = KW_TRY(read_all(last));
      return Done{};
    }
    return input_error("no number of results fits");
  }

 private:
  Result<frontend::Value> invoke(const char* function, std::vector<frontend::Value> arguments) {
    const frontend::Value* found = KW_TRY(staged_.tracer.global(function));
    if (!found) return input_error("there is no {}", function);
    return staged_.tracer.call(*found, {std::move(arguments), {}});
  }

  Result<std::vector<frontend::Value>> last_given() {
    const frontend::Value* calls = KW_TRY(staged_.tracer.global("noted_arguments"));
    const std::vector<frontend::Value>* all = calls ? frontend::items_of(*calls) : nullptr;
    if (!all || all->empty()) return input_error("the candidate is never called");
    return *frontend::items_of(all->back());
  }

  Result<std::vector<frontend::Value>> given_to_candidate() {
    const frontend::Value* candidate = KW_TRY(staged_.tracer.global("noted_candidate"));
    staged_.arguments.keywords.emplace_back("fn", *candidate);
    KW_TRY(staged_.tracer.call(staged_.callee, staged_.arguments));
    return last_given();
  }

  /// A gradient for every output, with the name that the backward task uses.
  Result<frontend::Value> upstream(const frontend::Value& outputs) {
    const std::vector<frontend::Value>* several = frontend::items_of(outputs);
    const std::vector<frontend::Value> all =
        several ? *several : std::vector<frontend::Value>{outputs};
    std::vector<frontend::Value> gradients;
    for (size_t i = 0; i < all.size(); ++i) {
      const auto* tensor = all[i].get<frontend::Tensor>();
      if (!tensor || i >= forward_.output_names.size())
        return input_error("forward() gives other outputs");
      graph::Builder& graph = staged_.tracer.graph();
      const graph::NodeId output = KW_TRY(frontend::read(graph, *tensor));
      const graph::Node node = graph[output];
      const std::string name = graph::gradient_name(forward_.output_names[i]);
      const graph::NodeId input = graph.input(name, node.dtype, node.shape);
      staged_.names[input] = name;
      gradients.push_back(frontend::new_tensor(input));
    }
    return frontend::make_list(std::move(gradients));
  }

  /// One value if count is 0, otherwise a tuple.
  static frontend::Value results_of(int count) {
    if (count == 0) return frontend::Value(std::string("0"));
    std::vector<frontend::Value> all;
    for (int i = 0; i < count; ++i) all.emplace_back(fmt::format("{}", i));
    return frontend::make_tuple(std::move(all));
  }

  /// backward() returns one gradient for every argument of forward().
  bool name_results(const frontend::Value& returned, size_t count, task::Call* call) {
    const std::vector<frontend::Value>* several = frontend::items_of(returned);
    const std::vector<frontend::Value> all =
        several ? *several : std::vector<frontend::Value>{returned};
    if (all.size() != given_.size()) return false;
    call->results.assign(count, "");
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].is_none()) continue;
      const auto* text = all[i].get<std::string>();
      const auto of = value_of(given_[i]);
      if (!text || !of || of->kind != Kind::Tensor) return false;
      call->results.at(static_cast<size_t>(std::stoul(*text))) = graph::gradient_name(of->text);
    }
    return !contains(call->results, "");
  }

  Result<std::vector<task::CallValue>> read_all(const std::vector<frontend::Value>& values) {
    std::vector<task::CallValue> all;
    for (const frontend::Value& value : values) all.push_back(KW_TRY(value_of(value)));
    return all;
  }

  Result<task::CallValue> value_of(const frontend::Value& value) {
    if (value.is_none()) return task::CallValue{};
    if (const auto* flag = value.get<bool>())
      return task::CallValue{Kind::Bool, "", *flag ? 1.0 : 0.0, {}};
    if (const auto* integer = value.get<graph::Dim>())
      return task::CallValue{Kind::Int, integer->text(), 0, {}};
    if (const auto* number = value.get<frontend::Float>())
      return task::CallValue{Kind::Float, "", *number, {}};
    if (const std::vector<frontend::Value>* items = frontend::items_of(value))
      return task::CallValue{Kind::Tuple, "", 0, KW_TRY(read_all(*items))};
    const auto* tensor = value.get<frontend::Tensor>();
    if (!tensor) return input_error("it is given something that is neither a tensor nor a number");
    const auto name = staged_.names.find(tensor->cell ? tensor->cell->node : tensor->node);
    if (name == staged_.names.end()) return input_error("it is given a tensor that is computed");
    return task::CallValue{Kind::Tensor, name->second, 0, {}};
  }

  const task::Task& forward_;
  frontend::PreparedEntry& staged_;
  std::vector<frontend::Value> given_;  // arguments of the candidate of the forward pass
};

/// Tensors that the task does not use are spare. False if neither task knows a tensor.
bool settle_tensors(const std::vector<task::CallValue>& values, const task::Task& forward,
                    const task::Task& task, task::Call* call) {
  for (const task::CallValue& value : values) {
    if (!settle_tensors(value.items, forward, task, call)) return false;
    if (value.kind != Kind::Tensor || task.find_input(value.text)) continue;
    const task::TensorSpec* spec = forward.find_input(value.text);
    if (!spec) return false;
    if (std::ranges::find(call->spare, spec->name, &task::TensorSpec::name) == call->spare.end())
      call->spare.push_back(*spec);
  }
  return true;
}

std::optional<task::Call> seen(const task::Task& forward, const task::Task& task,
                               Status (Looking::*look)(task::Call*)) {
  const auto* python = dynamic_cast<const frontend::PythonReference*>(forward.reference.get());
  if (!python) return std::nullopt;
  frontend::TraceEntry entry = python->entry();
  auto source = frontend::parse_python(entry.source->text + kLookingCandidate, entry.source->path);
  if (!source) return std::nullopt;
  entry.source = *source;
  task::Call call;
  const Status looked = frontend::stage_entry(
      entry, forward.benchmark_shapes.front(),
      [&](frontend::PreparedEntry& staged) { return (Looking(forward, staged).*look)(&call); });
  if (!looked || !settle_tensors(call.arguments, forward, task, &call)) return std::nullopt;
  if (!call.results.empty() && !std::ranges::is_permutation(call.results, task.output_names))
    return std::nullopt;
  return call;
}

}  // namespace

std::optional<task::Call> forward_call(const task::Task& forward) {
  return seen(forward, forward, &Looking::look_forward);
}

std::optional<task::Call> backward_call(const task::Task& forward, const task::Task& backward) {
  return seen(forward, backward, &Looking::look_backward);
}

}  // namespace kw::task_formats
