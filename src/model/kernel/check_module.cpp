// A single plan line can be correct and still contradict another line. This source checks what
// needs the whole module: names, backward tasks, methods, unreachable groups, kernels, outputs. It
// runs after all lines were read, so that lines may use names declared later. Every problem is
// reported, because an author that repairs one problem per attempt needs many attempts. Names that
// occur in broken lines are not reported again (broken_names). The cost: a module with a broken
// line is checked less strictly until that line is repaired.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "core/contains.h"
#include "core/text.h"
#include "cuda_source/source_kernels.h"
#include "kernel/check_names.h"
#include "kernel/draft.h"
#include "kernel/kernel_name.h"
#include "kernel/plan_names.h"

namespace kw::kernel {

namespace {

class ModuleChecker {
 public:
  ModuleChecker(const cuda_source::SourceText& source, size_t injection_offset, Draft& draft)
      : draft_(draft),
        module_(draft.module),
        names_(draft),
        kernels_(cuda_source::find_kernels(source)) {
    for (const cuda_source::SourceToken& token : source.tokens) {
      if (token.begin >= injection_offset) break;
      if (token.kind == cuda_source::SourceKind::Identifier)
        before_includes_end_.emplace(token.text, &token);
    }
  }

  void run() {
    names_.check_lets();
    check_task();
    check_tensors();
    for (const LetDecl& let : module_.lets) names_.check(let.value, kAfterCompile, "'let'");
    for (const NumberDecl& number : module_.numbers) names_.check_number(number.value);
    for (const TuneDecl& tune : module_.tunes) check_tune(tune);
    for (const MethodDecl& method : module_.methods) check_method(method);
    for (const TensormapDecl& map : module_.tensormaps) check_tensormap(map);
    check_groups();
  }

 private:
  void report(int line, int column, size_t length, std::string message, std::string hint = "") {
    draft_.diagnostics.push_back(
        {line, column, static_cast<int>(length), std::move(message), std::move(hint)});
  }

  void check_task() {
    if (!draft_.has_task) {
      report(0, 0, 1, "the module names no task", "add a line such as '//! task rms_norm'");
    }
    if (module_.backward) return check_backward();
    for (const TensorDecl& decl : module_.tensors) {
      if (decl.kind != InputKind::Saved && decl.kind != InputKind::GradOutput) continue;
      report(decl.line, decl.column, decl.name.size(),
             fmt::format("'{}' lines belong to backward tasks",
                         decl.kind == InputKind::Saved ? "saved" : "grad_output"),
             "write 'task NAME backward', or use 'input'");
    }
  }

  // In a backward task an input named grad_… is the gradient of an output, whatever its keyword is.
  static InputKind backward_kind(const TensorDecl& decl) {
    return decl.name.starts_with("grad_") ? InputKind::GradOutput : decl.kind;
  }

  void check_backward() {
    static constexpr const char* kKinds[] = {"inputs", "params", "saved tensors", "grad_outputs"};
    InputKind last = InputKind::Input;
    bool any_gradient = false;
    for (const TensorDecl& decl : module_.tensors) {
      if (decl.role == Role::Output) check_gradient(decl);
      if (decl.role != Role::Input) continue;
      const InputKind kind = backward_kind(decl);
      any_gradient = any_gradient || kind == InputKind::GradOutput;
      if (kind < last) {
        report(decl.line, decl.column, decl.name.size(),
               fmt::format("'{}' must come before {}", decl.name, kKinds[static_cast<int>(last)]),
               "the order of a backward task is inputs, params, saved, grad_outputs");
      }
      last = std::max(last, kind);
      if (kind == InputKind::GradOutput && !decl.name.starts_with("grad_")) {
        report(decl.line, decl.column, decl.name.size(),
               fmt::format("grad_output '{}' is not called grad_<output>", decl.name));
      }
    }
    if (!any_gradient) {
      report(0, 0, 1, "a backward task needs the gradient of at least one output",
             "add a line such as '//! grad_output grad_y: fp16[B, D]'");
    }
  }

  void check_gradient(const TensorDecl& output) {
    const std::string of = output.name.starts_with("grad_") ? output.name.substr(5) : "";
    const TensorDecl* source = of.empty() ? nullptr : module_.find_tensor(of);
    const bool valid = source != nullptr && source->role == Role::Input &&
                       (source->kind == InputKind::Input || source->kind == InputKind::Param);
    if (!valid) {
      if (draft_.broken_names.count(of) != 0) return;
      return report(
          output.line, output.column, output.name.size(),
          fmt::format("output '{}' of a backward task is not grad_<input or param>", output.name));
    }
    if (source->shape.size() != output.shape.size()) {
      report(output.line, output.column, output.name.size(),
             fmt::format("'{}' has {} dimensions, but '{}' has {}", output.name,
                         output.shape.size(), of, source->shape.size()),
             "a gradient has the shape of what it belongs to");
    }
  }

  void check_tensors() {
    for (const TensorDecl& decl : module_.tensors) {
      const bool scratch = decl.role == Role::Scratch;
      for (const Expr& extent : decl.shape) {
        names_.check(extent, scratch ? kAfterCompile : kInterface,
                     scratch ? "a scratch shape" : "the shape of an input or output");
      }
      for (const Expr& stride : decl.strides) names_.check(stride, kInterface, "a stride");
    }
  }

  void check_tune(const TuneDecl& tune) {
    if (tune.where) names_.check(*tune.where, kTune, "'where'");
    const auto early = before_includes_end_.find(tune.name);
    if (early == before_includes_end_.end()) return;
    const cuda_source::SourceToken& token = *early->second;
    report(token.line, token.column, token.text.size(),
           fmt::format("tunable '{}' is used before the last #include", tune.name),
           "tunables are defined behind the includes; move this below them");
  }

  void check_method(const MethodDecl& method) {
    if (method.when) names_.check(*method.when, kBeforeCompile, "a method's 'when'");
    Scope off;
    for (const auto& [name, value] : method.off) {
      const TuneDecl* tune = module_.find_tune(name);
      if (tune == nullptr) {
        if (draft_.broken_names.count(name) != 0) continue;
        std::vector<std::string> tunes;
        for (const TuneDecl& decl : module_.tunes) tunes.push_back(decl.name);
        report(method.line, method.column, method.id.size(),
               fmt::format("'off {}={}': '{}' is not a tunable{}", name, value, name,
                           suggestion(name, tunes)),
               "a method is switched off by the value of a tunable");
        continue;
      }
      off.values[name] = value;
      if (!contains(tune->values, value)) {
        report(method.line, method.column, method.id.size(),
               fmt::format("'off {}={}': {} is not among the values of '{}'", name, value, value,
                           name),
               "add it to the 'tune' line");
      }
    }
    check_off_switches(method, off);
  }

  // Can be decided only when the condition uses no names except the switched tunables.
  void check_off_switches(const MethodDecl& method, const Scope& off) {
    if (!method.when || off.values.empty()) return;
    for (const ExprNode& node : method.when->nodes) {
      if (node.op == ExprOp::Has || (node.op == ExprOp::Name && off.values.count(node.name) == 0))
        return;
    }
    const Result<int64_t> still_on = evaluate(*method.when, off);
    if (!still_on || *still_on == 0) return;
    report(method.line, method.column, method.id.size(),
           fmt::format("'off' does not switch the method off: '{}' still holds ({})",
                       method.when->text, values_of(*method.when, off)));
  }

  void check_tensormap(const TensormapDecl& map) {
    const TensorDecl* tensor = module_.find_tensor(map.tensor);
    if (tensor == nullptr) {
      if (draft_.broken_names.count(map.tensor) != 0) return;
      return report(map.line, map.column, map.name.size(),
                    fmt::format("'{}' is not a tensor", map.tensor));
    }
    if (map.box.size() != tensor->shape.size()) {
      report(map.line, map.column, map.name.size(),
             fmt::format("box(…) has {} value{}, but '{}' has {} dimension{}", map.box.size(),
                         map.box.size() == 1 ? "" : "s", map.tensor, tensor->shape.size(),
                         tensor->shape.size() == 1 ? "" : "s"));
    }
    for (const Expr& extent : map.box) names_.check(extent, kBeforeCompile, "a box");
  }

  void check_groups() {
    bool any_launch = false;
    for (size_t i = 0; i < module_.groups.size(); ++i) {
      const Group& group = module_.groups[i];
      any_launch = any_launch || !group.launches.empty();
      if (group.when) names_.check(*group.when, kBeforeCompile, "'when'");
      check_reachable(i);
      for (const RepeatDecl& repeat : group.repeats) check_repeat(repeat);
      for (const LaunchDecl& launch : group.launches) check_launch(group, launch);
      check_outputs(group);
    }
    // A launch line that could not be read was reported already.
    if (!any_launch && draft_.broken_names.count("launch") == 0) {
      report(0, 0, 1, "the module launches nothing",
             "add a line such as '//! launch kernel grid(B) block(256) args(x, y)'");
    }
  }

  void check_reachable(size_t index) {
    const Group& group = module_.groups[index];
    if (index + 1 < module_.groups.size()) {
      const int next = module_.groups[index + 1].line;
      const bool broken = !group.when && index > 0;
      const bool always =
          !group.when || (group.when->nodes.size() == 1 &&
                          group.when->root().op == ExprOp::Number && group.when->root().value != 0);
      if (always && !broken && !group.launches.empty()) {
        report(next, 1, 1,
               fmt::format(
                   "the launches from line {} on always apply, so this 'when' is never reached",
                   group.line),
               "put the general case last");
      }
    }
    if (group.when && group.launches.empty() && draft_.broken_names.count("launch") == 0) {
      report(group.line, group.when->column, group.when->text.size(),
             "no launch follows this 'when'", "every 'when' is followed by the launches it guards");
    }
  }

  void check_repeat(const RepeatDecl& repeat) {
    names_.check(repeat.begin, kBeforeCompile, "'repeat'");
    names_.check(repeat.end, kBeforeCompile, "'repeat'");
    if ((names_.kinds_of(repeat.name) & kUnknown) == 0) {
      report(repeat.line, repeat.column, repeat.name.size(),
             fmt::format("'{}' already means something else", repeat.name), "choose another name");
    }
  }

  void check_launch(const Group& group, const LaunchDecl& launch) {
    const std::string repeat =
        launch.repeat < 0 ? "" : group.repeats[static_cast<size_t>(launch.repeat)].name;
    for (const Expr& e : launch.grid) names_.check(e, kAfterCompile | kRepeat, "grid(…)", repeat);
    for (const Expr& e : launch.block)
      names_.check(e, kBeforeCompile | kRepeat, "block(…)", repeat);
    for (const Expr& e : launch.cluster)
      names_.check(e, kBeforeCompile | kRepeat, "cluster(…)", repeat);
    if (launch.shared) names_.check(*launch.shared, kBeforeCompile | kRepeat, "shared(…)", repeat);
    for (const Expr& e : launch.args) names_.check_argument(e, repeat);
    if (!module_.recorded.empty()) return check_recorded(launch);
    if (!launch.params.empty())
      report(launch.line, launch.column, launch.kernel.size(),
             "params(…) belong to recorded modules", "use args(…)");
    names_.check_template_arguments(launch, kernels_.identifiers, repeat);
    check_kernel(launch);
  }

  // The device code of a recorded launch is PTX, so its kernels are checked when it is loaded.
  void check_recorded(const LaunchDecl& launch) {
    if (!launch.args.empty())
      report(launch.line, launch.column, launch.kernel.size(),
             "a recorded launch has params(…), not args(…)");
    for (const RecordedParam& param : launch.params) {
      for (const RecordedParam::Pointer& pointer : param.pointers) {
        if (module_.find_tensor(pointer.tensor) != nullptr) continue;
        report(launch.line, launch.column, launch.kernel.size(),
               fmt::format("params(…): there is no tensor '{}'", pointer.tensor));
      }
    }
  }

  void check_kernel(const LaunchDecl& launch) {
    const std::string name = base_name(launch.kernel);
    if (contains(kernels_.names, name)) return;
    if (kernels_.made_by_macros) return;
    report(launch.line, launch.column, launch.kernel.substr(0, launch.kernel.find('<')).size(),
           fmt::format("there is no kernel '{}' in the device code{}", name,
                       suggestion(name, kernels_.names)),
           kernels_.names.empty() ? "the device code has no '__global__' function"
                                  : "kernels here: " + join(kernels_.names, ", "));
  }

  void check_outputs(const Group& group) {
    if (group.launches.empty()) return;
    for (const TensorDecl& decl : module_.tensors) {
      if (decl.role != Role::Output && decl.role != Role::Inout) continue;
      const bool passed = std::ranges::any_of(group.launches, [&](const LaunchDecl& launch) {
        // A recorded call may write no output; the judge decides that.
        if (!module_.recorded.empty()) return true;
        return std::ranges::any_of(launch.args, [&](const Expr& arg) {
          return std::ranges::any_of(arg.nodes, [&](const ExprNode& node) {
            return node.op == ExprOp::Name && is_of(decl.name, node.name);
          });
        });
      });
      if (passed || draft_.broken_names.count(decl.name) != 0) continue;
      const LaunchDecl& first = group.launches.front();
      report(first.line, first.column, first.kernel.size(),
             fmt::format("no launch {} gets '{}', so nothing can write it",
                         group.when ? "under this 'when'" : "of the module", decl.name),
             fmt::format("add '{}' to the args(…) of the kernel that computes it", decl.name));
    }
  }

  bool is_of(const std::string& tensor, const std::string& argument) const {
    if (argument == tensor) return true;
    return std::ranges::any_of(module_.tensormaps, [&](const TensormapDecl& map) {
      return map.name == argument && map.tensor == tensor;
    });
  }

  Draft& draft_;
  const Module& module_;
  NameChecker names_;
  cuda_source::SourceKernels kernels_;
  std::map<std::string, const cuda_source::SourceToken*>
      before_includes_end_;  // tunables are not defined there yet
};

}  // namespace

void check_module(const cuda_source::SourceText& source, size_t injection_offset, Draft& draft) {
  ModuleChecker(source, injection_offset, draft).run();
}

}  // namespace kw::kernel
