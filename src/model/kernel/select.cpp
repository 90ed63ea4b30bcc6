#include "kernel/select.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/contains.h"
#include "core/text.h"
#include "kernel/bind.h"

namespace kw::kernel {

namespace {

Result<int> choose_group(const Module& module, const Scope& scope) {
  std::vector<std::string> guards;
  for (size_t i = 0; i < module.groups.size(); ++i) {
    const Group& group = module.groups[i];
    if (!group.when) return static_cast<int>(i);
    const int64_t holds = KW_TRY(evaluate(*group.when, scope));
    if (holds != 0) return static_cast<int>(i);
    const std::string values = values_of(*group.when, scope);
    guards.push_back(fmt::format("line {}: '{}' does not hold{}", group.line, group.when->text,
                                 values.empty() ? "" : " (" + values + ")"));
  }
  return input_error("shape outside the module's domain: " + join(guards, "; "));
}

Status check_features(const Module& module, const LaunchDecl& launch) {
  if (launch.pdl)
    return input_error("line {}: 'pdl' is not supported on this device yet", launch.line);
  for (const Expr& arg : launch.args) {
    for (const ExprNode& node : arg.nodes) {
      const auto is_map = [&](const TensormapDecl& map) {
        return node.op == ExprOp::Name && map.name == node.name;
      };
      if (std::ranges::none_of(module.tensormaps, is_map)) continue;
      return input_error("line {}: tensormap '{}' is not supported on this device yet", launch.line,
                         node.name);
    }
  }
  return Done{};
}

}  // namespace

Result<Selection> select(const Module& module, const Bindings& bindings) {
  KW_TRY(check_bindings(module, bindings));
  const std::map<std::string, int64_t> tunes = KW_TRY(resolve_tunes(module, bindings.tunes));
  Scope scope = make_scope(module, bindings, tunes);
  Selection selection;
  selection.group = KW_TRY(choose_group(module, scope));
  for (const TuneDecl& tune : module.tunes) {
    selection.defines.emplace_back(tune.name, tunes.at(tune.name));
  }
  const Group& group = module.groups[static_cast<size_t>(selection.group)];
  for (const LaunchDecl& launch : group.launches) KW_TRY(check_features(module, launch));
  selection.kernels = KW_TRY(kernels_of(module, group, scope));
  return selection;
}

Result<std::map<std::string, int64_t>> infer_dims(
    const Module& module, const std::map<std::string, std::vector<int64_t>>& shapes) {
  std::map<std::string, int64_t> dims;
  const std::vector<std::string> symbols = module.dims();
  for (const auto& [name, shape] : shapes) {
    const TensorDecl* decl = module.find_tensor(name);
    if (decl == nullptr) return input_error("the module has no tensor '{}'", name);
    if (decl->shape.size() != shape.size()) {
      return input_error("'{}' has {} dimensions, but the module declares {}", name, shape.size(),
                         decl->shape.size());
    }
    for (size_t i = 0; i < shape.size(); ++i) {
      const ExprNode& root = decl->shape[i].root();
      const bool symbol = root.op == ExprOp::Name && contains(symbols, root.name);
      if (!symbol) continue;
      const auto [at, fresh] = dims.emplace(root.name, shape[i]);
      if (!fresh && at->second != shape[i]) {
        return input_error("dim {} is {} elsewhere, but {} in '{}' (dimension {})", root.name,
                           at->second, shape[i], name, i);
      }
    }
  }
  return dims;
}

}  // namespace kw::kernel
