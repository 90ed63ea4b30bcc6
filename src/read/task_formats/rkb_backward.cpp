// The problem: a robust-kbench file passes its backward pass to a candidate in its own argument
// order, and some files pass the wrong values. The choice: the order is read from the syntax tree
// of AutogradFunction: saved tensors, context attributes and the call of backward_fn. The
// alternative, evaluating the code, is in rkb_call.cpp; it gives values, but not the names that
// messages need. The cost: only the usual ways of writing are understood.
#include <fmt/core.h>

#include <functional>

#include "core/text.h"
#include "task_formats/rkb_source.h"

namespace kw::task_formats {
namespace {

constexpr int kDeepest = 200;

using Visit = std::function<void(const Json& node)>;

void walk(const Json& node, const Visit& visit, int depth = 0) {
  if (depth > kDeepest) return;
  if (node["_"].is_string()) visit(node);
  for (const Json& item : node.items()) walk(item, visit, depth + 1);
  for (const auto& [name, child] : node.members()) walk(child, visit, depth + 1);
}

const Json* method_of(const Json& tree, std::string_view cls, std::string_view name) {
  const Json* found = nullptr;
  for (const Json& statement : tree["body"].items()) {
    if (statement["_"].as_string() != "ClassDef" || statement["name"].as_string() != cls) continue;
    for (const Json& method : statement["body"].items()) {
      if (method["name"].as_string() == name) found = &method;
    }
  }
  return found;
}

std::vector<std::string> parameters_of(const Json& function) {
  std::vector<std::string> names;
  for (const Json& arg : function["args"]["args"].items()) names.push_back(arg["arg"].as_string());
  return names;
}

class CallReader {
 public:
  CallReader(const frontend::Source& source, const Json& forward, const Json& backward)
      : source_(source), backward_(backward) {
    walk(forward, [this](const Json& node) { note_saved(node); });
    walk(backward, [this](const Json& node) { note_local(node); });
  }

  BackwardCall read(std::vector<FolderProblem>* problems) {
    BackwardCall call;
    walk(backward_, [&](const Json& node) {
      if (node["_"].as_string() != "Call" || node["func"]["attr"].as_string() != "backward_fn")
        return;
      call.found = true;
      call.arguments.clear();
      for (const Json& argument : node["args"].items()) {
        const std::string text = frontend::text_of(source_, argument);
        if (text == whole_) report_tuple(problems);
        const auto known = locals_.find(text);
        call.arguments.push_back(known == locals_.end() ? text : known->second);
      }
      for (const Json& keyword : node["keywords"].items())
        call.arguments.push_back(keyword["arg"].as_string());
    });
    return call;
  }

 private:
  /// ctx.save_for_backward(x, w) and ctx.eps = eps.
  void note_saved(const Json& node) {
    if (node["_"].as_string() == "Call" &&
        node["func"]["attr"].as_string() == "save_for_backward") {
      saved_.clear();
      for (const Json& argument : node["args"].items())
        saved_.push_back(frontend::text_of(source_, argument));
    }
    for (const Json& target : node["targets"].items()) {
      if (target["_"].as_string() == "Attribute")
        locals_[frontend::text_of(source_, target)] = frontend::text_of(source_, node["value"]);
    }
  }

  /// x, w = ctx.saved_tensors; x = ctx.saved_tensors[0]; eps = ctx.eps.
  void note_local(const Json& node) {
    const Json& value = node["value"];
    for (const Json& target : node["targets"].items()) {
      const bool all = value["attr"].as_string() == "saved_tensors";
      const Json::Array& names = target["elts"].items();
      for (size_t i = 0; all && i < names.size() && i < saved_.size(); ++i)
        locals_[frontend::text_of(source_, names[i])] = saved_[i];
      if (all && names.empty()) {
        whole_ = frontend::text_of(source_, target);
        locals_[whole_] = fmt::format("({})", join(saved_, ", "));
      }
      const Json& index = value["slice"]["value"];
      if (value["value"]["attr"].as_string() == "saved_tensors" && index.is_int() &&
          index.as_int() >= 0 && static_cast<size_t>(index.as_int()) < saved_.size())
        locals_[frontend::text_of(source_, target)] = saved_[static_cast<size_t>(index.as_int())];
      const auto known = locals_.find(frontend::text_of(source_, value));
      if (names.empty() && known != locals_.end())
        locals_[frontend::text_of(source_, target)] = known->second;
    }
  }

  void report_tuple(std::vector<FolderProblem>* problems) const {
    problems->push_back(
        {"backward-call",
         fmt::format("{}: '{}' is the tuple of saved tensors, not a tensor: backward_fn() is given "
                     "a tuple",
                     source_.name, whole_),
         true});
  }

  const frontend::Source& source_;
  const Json& backward_;
  std::vector<std::string> saved_;
  std::map<std::string, std::string> locals_;  // name in backward() -> name in forward()
  std::string whole_;                          // the name of the whole tuple, if it has one
};

/// backward() must return one gradient per argument of forward().
void check_returned(const frontend::Source& source, const Json& forward, const Json& backward,
                    std::vector<FolderProblem>* problems) {
  const size_t wanted = parameters_of(forward).size() - 1;
  walk(backward, [&](const Json& node) {
    if (node["_"].as_string() != "Return") return;
    const bool tuple = node["value"]["_"].as_string() == "Tuple";
    const bool one = node["value"]["_"].as_string() == "Name";
    const size_t given = tuple ? node["value"]["elts"].items().size() : 1;
    if ((!tuple && !one) || given == wanted || (one && wanted > 1)) return;
    problems->push_back(
        {"backward-call",
         fmt::format("{}: backward() returns {} gradients, but forward() takes {} arguments",
                     source.name, given, wanted),
         true});
  });
}

}  // namespace

BackwardCall read_backward_call(const RkbFile& file, std::vector<FolderProblem>* problems) {
  const frontend::Source& source = *file.source;
  const Json* forward = method_of(source.tree, "AutogradFunction", "forward");
  const Json* backward = method_of(source.tree, "AutogradFunction", "backward");
  if (!forward || !backward || parameters_of(*forward).empty()) {
    problems->push_back(
        {"backward-call",
         fmt::format("{} has no AutogradFunction with forward() and backward()", source.name),
         true});
    return {};
  }
  BackwardCall call = CallReader(source, *forward, *backward).read(problems);
  if (!call.found)
    problems->push_back(
        {"backward-call",
         fmt::format("{}: AutogradFunction.backward() never calls backward_fn()", source.name),
         true});
  check_returned(source, *forward, *backward, problems);
  return call;
}

}  // namespace kw::task_formats
