// The problem: a model may name the tensors of its module differently from the task. The matcher
// pairs equal names first, then the remaining tensors by position, and notes each guess. Inputs
// that the graph does not use may stay unmatched; optional inputs of the module may be absent. The
// alternative, requiring equal names, would reject right kernels for a naming difference. The cost:
// two swapped tensors of one dtype and rank match by position; the values then show the error.
#include <fmt/core.h>

#include <algorithm>

#include "core/text.h"
#include "shapes/binding.h"

namespace kw::shapes {

namespace {

using kernel::Role;
using kernel::TensorDecl;

bool is_read(const TensorDecl& decl) {
  return decl.role == Role::Input || decl.role == Role::Inout;
}
bool is_written(const TensorDecl& decl) {
  return decl.role == Role::Output || decl.role == Role::Inout;
}

std::string tensor_text(const graph::Graph& graph, const graph::NamedNode& named) {
  const graph::Node& node = graph[named.node];
  return fmt::format("'{}' ({}{})", named.name, tensor::dtype_name(node.dtype),
                     graph::shape_text(node.shape));
}

std::string names_text(const kernel::Module& module, bool (*wanted)(const TensorDecl&)) {
  std::vector<std::string> names;
  for (const TensorDecl& decl : module.tensors) {
    if (wanted(decl)) names.push_back(decl.name);
  }
  return names.empty() ? "none" : join(names, ", ");
}

class Matcher {
 public:
  Matcher(const kernel::Module& module, const task::Task& task, const graph::Graph& graph)
      : module_(module), task_(task), graph_(graph) {
    matching_.tensors.resize(module.tensors.size());
    find_used();
  }

  Result<Matching> run() {
    KW_TRY(match_inputs());
    KW_TRY(check_inouts());
    KW_TRY(match_outputs());
    KW_TRY(check_dtypes());
    return std::move(matching_);
  }

 private:
  void find_used() {
    std::set<graph::NodeId> used;
    for (const graph::Node& node : graph_.nodes)
      used.insert(node.inputs.begin(), node.inputs.end());
    for (const graph::NamedNode& output : graph_.outputs) used.insert(output.node);
    for (const graph::NamedNode& input : graph_.inputs)
      used_.push_back(used.count(input.node) != 0);
  }

  static int find(const std::vector<graph::NamedNode>& nodes, const std::string& name) {
    const auto at = std::ranges::find(nodes, name, &graph::NamedNode::name);
    return at == nodes.end() ? -1 : static_cast<int>(at - nodes.begin());
  }

  void note_position(const TensorDecl& decl, const std::string& name) {
    matching_.notes.push_back(fmt::format(
        "the module's '{}' is matched with the task's '{}' (by position)", decl.name, name));
  }

  Status match_inputs() {
    std::vector<bool> taken(graph_.inputs.size());
    std::vector<size_t> open;
    for (size_t i = 0; i < module_.tensors.size(); ++i) {
      const TensorDecl& decl = module_.tensors[i];
      if (!is_read(decl)) continue;
      const int at = find(graph_.inputs, decl.name);
      matching_.tensors[i].input = at;
      if (at >= 0)
        taken[static_cast<size_t>(at)] = true;
      else
        open.push_back(i);
    }
    std::vector<size_t> left;
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      if (!taken[i] && used_[i]) left.push_back(i);
    }
    return pair_inputs(open, left);
  }

  Status pair_inputs(const std::vector<size_t>& open, const std::vector<size_t>& left) {
    size_t next = 0;
    for (const size_t i : open) {
      const TensorDecl& decl = module_.tensors[i];
      if (next < left.size()) {
        matching_.tensors[i].input = static_cast<int>(left[next]);
        note_position(decl, graph_.inputs[left[next++]].name);
      } else if (decl.optional) {
        matching_.absent.insert(decl.name);
      } else {
        return input_error(
            "line {}: the module reads '{}', for which the task has no tensor left; its inputs are "
            "{}",
            decl.line, decl.name, task_inputs());
      }
    }
    if (next == left.size()) return Done{};
    return input_error("the module has no input for the task's {}; it reads {}",
                       tensor_text(graph_, graph_.inputs[left[next]]),
                       names_text(module_, is_read));
  }

  Status match_outputs() {
    std::vector<bool> taken(graph_.outputs.size());
    std::vector<size_t> open, left;
    for (size_t i = 0; i < module_.tensors.size(); ++i) {
      const TensorDecl& decl = module_.tensors[i];
      if (!is_written(decl)) continue;
      const int at = find(graph_.outputs, decl.name);
      matching_.tensors[i].output = at;
      if (at >= 0)
        taken[static_cast<size_t>(at)] = true;
      else
        open.push_back(i);
    }
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      if (!taken[i]) left.push_back(i);
    }
    if (open.size() != left.size()) {
      return input_error("the module writes {}, the task returns {}",
                         names_text(module_, is_written), task_outputs());
    }
    for (size_t k = 0; k < open.size(); ++k) {
      matching_.tensors[open[k]].output = static_cast<int>(left[k]);
      note_position(module_.tensors[open[k]], graph_.outputs[left[k]].name);
    }
    return Done{};
  }

  // The caller would see a write into a tensor that the task only reads.
  Status check_inouts() const {
    for (size_t i = 0; i < module_.tensors.size(); ++i) {
      const TensorDecl& decl = module_.tensors[i];
      const int input = matching_.tensors[i].input;
      if (decl.role != Role::Inout || input < 0) continue;
      const std::string& name = graph_.inputs[static_cast<size_t>(input)].name;
      const task::TensorSpec* spec = task_.find_input(name);
      if (spec != nullptr && spec->written) continue;
      return input_error("line {}: the module writes '{}' (inout), which the task only reads",
                         decl.line, name);
    }
    return Done{};
  }

  Status check_dtypes() const {
    for (size_t i = 0; i < module_.tensors.size(); ++i) {
      const TensorMatch& match = matching_.tensors[i];
      if (match.input >= 0)
        KW_TRY(check_dtype(module_.tensors[i], graph_.inputs[static_cast<size_t>(match.input)]));
      if (match.output >= 0)
        KW_TRY(check_dtype(module_.tensors[i], graph_.outputs[static_cast<size_t>(match.output)]));
    }
    return Done{};
  }

  Status check_dtype(const TensorDecl& decl, const graph::NamedNode& named) const {
    const graph::Node& node = graph_[named.node];
    if (node.dtype == decl.dtype) {
      if (node.shape.size() == decl.shape.size()) return Done{};
      return input_error("line {}: '{}' has {} dimensions, the task's '{}' has {}: {}", decl.line,
                         decl.name, decl.shape.size(), named.name, node.shape.size(),
                         graph::shape_text(node.shape));
    }
    return input_error("line {}: '{}' is {}, the task's '{}' is {}", decl.line, decl.name,
                       tensor::dtype_name(decl.dtype), named.name, tensor::dtype_name(node.dtype));
  }

  std::string task_inputs() const {
    std::vector<std::string> names;
    for (const graph::NamedNode& input : graph_.inputs) names.push_back(input.name);
    return names.empty() ? "none" : join(names, ", ");
  }
  std::string task_outputs() const {
    std::vector<std::string> names;
    for (const graph::NamedNode& output : graph_.outputs)
      names.push_back(tensor_text(graph_, output));
    return names.empty() ? "nothing" : join(names, ", ");
  }

  const kernel::Module& module_;
  const task::Task& task_;
  const graph::Graph& graph_;
  std::vector<bool> used_;  // per graph input: whether the graph uses it
  Matching matching_;
};

}  // namespace

Result<Matching> match_tensors(const kernel::Module& module, const task::Task& task,
                               const graph::Graph& graph) {
  return Matcher(module, task, graph).run();
}

}  // namespace kw::shapes
