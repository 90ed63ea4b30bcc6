#include "kernel/module.h"

#include <algorithm>

#include "kernel/plan_names.h"

namespace kw::kernel {

namespace {

template <typename Decl>
const Decl* find_named(const std::vector<Decl>& decls, const std::string& name) {
  const auto at = std::ranges::find(decls, name, &Decl::name);
  return at == decls.end() ? nullptr : &*at;
}

}  // namespace

const char* role_name(Role role) {
  constexpr const char* kNames[] = {"input", "output", "inout", "scratch"};
  return kNames[static_cast<size_t>(role)];
}

const TensorDecl* Module::find_tensor(const std::string& name) const {
  return find_named(tensors, name);
}
const ScalarDecl* Module::find_scalar(const std::string& name) const {
  return find_named(scalars, name);
}
const LetDecl* Module::find_let(const std::string& name) const { return find_named(lets, name); }
const NumberDecl* Module::find_number(const std::string& name) const {
  return find_named(numbers, name);
}
const TuneDecl* Module::find_tune(const std::string& name) const { return find_named(tunes, name); }

std::vector<std::string> Module::dims(const std::set<std::string>& absent) const {
  std::set<std::string> taken(builtin_names().begin(), builtin_names().end());
  for (const TensorDecl& decl : tensors) taken.insert(decl.name);
  for (const ScalarDecl& decl : scalars) taken.insert(decl.name);
  for (const LetDecl& decl : lets) taken.insert(decl.name);
  for (const TuneDecl& decl : tunes) taken.insert(decl.name);
  std::vector<std::string> out;
  const auto visit = [&](const Expr& expr) {
    for (const ExprNode& node : expr.nodes) {
      if (node.op == ExprOp::Name && taken.insert(node.name).second) out.push_back(node.name);
    }
  };
  for (const TensorDecl& decl : tensors) {
    if (decl.role == Role::Scratch || absent.count(decl.name) != 0) continue;
    std::ranges::for_each(decl.shape, visit);
    std::ranges::for_each(decl.strides, visit);
  }
  return out;
}

std::string print(const Module& module) { return module.text; }

}  // namespace kw::kernel
