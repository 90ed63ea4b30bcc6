#include "kernel/check_names.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "kernel/cursor.h"
#include "kernel/kernel_name.h"
#include "kernel/names.h"

namespace kw::kernel {

namespace {

struct KindText {
  unsigned kind;
  const char* is;  // "'x' is …"
};

constexpr std::array<KindText, 9> kKindTexts = {{
    {kTensor, "a tensor; tensors stand only in args(…)"},
    {kTensormap, "a tensormap; tensormaps stand only in args(…)"},
    {kFloatScalar, "a floating scalar; expressions hold integers only"},
    {kBlocksPerSm, "known only after compiling"},
    {kTune, "a tunable"},
    {kBuiltin, "a property of the device"},
    {kRepeat, "a 'repeat' variable"},
    {kHas, "whether an input was given"},
    {kDim, "a dim"},
}};

std::string kind_text(unsigned kinds) {
  for (const KindText& text : kKindTexts) {
    if ((kinds & text.kind) != 0) return text.is;
  }
  return "an integer scalar";
}

}  // namespace

NameChecker::NameChecker(Draft& draft) : draft_(draft), dims_(draft.module.dims()) {}

unsigned NameChecker::kinds_of(const std::string& name, const std::string& repeat) const {
  const Module& m = draft_.module;
  if (!repeat.empty() && name == repeat) return kRepeat;
  if (std::ranges::find(builtin_names(), name) != builtin_names().end()) return kBuiltin;
  if (m.find_tune(name) != nullptr) return kTune;
  if (m.find_tensor(name) != nullptr) return kTensor;
  if (const ScalarDecl* scalar = m.find_scalar(name)) {
    return tensor::is_float(scalar->dtype) ? kFloatScalar : kIntegerScalar;
  }
  if (const auto let = let_kinds_.find(name); let != let_kinds_.end()) return let->second;
  if (m.find_let(name) != nullptr) return 0;
  const auto is_map = [&](const TensormapDecl& map) { return map.name == name; };
  if (std::ranges::any_of(m.tensormaps, is_map)) return kTensormap;
  if (std::ranges::find(dims_, name) != dims_.end()) return kDim;
  return kUnknown;
}

void NameChecker::check_lets() {
  for (const LetDecl& let : draft_.module.lets) {
    std::set<std::string> open;
    let_kinds(let.name, open);
  }
}

// Depth is bounded by the number of lets; a cycle is reported once and then counts as known.
unsigned NameChecker::let_kinds(const std::string& name, std::set<std::string>& open) {
  if (const auto known = let_kinds_.find(name); known != let_kinds_.end()) return known->second;
  const LetDecl& let = *draft_.module.find_let(name);
  open.insert(name);
  unsigned kinds = 0;
  for (const ExprNode& node : let.value.nodes) {
    if (node.op == Op::Has) kinds |= kHas;
    if (node.op == Op::BlocksPerSm) kinds |= kBlocksPerSm;
    if (node.op != Op::Name) continue;
    if (open.count(node.name) != 0) {
      report(let.value, node, fmt::format("'{}' needs its own value", node.name),
             "a 'let' may use other lets, but not in a circle");
      continue;
    }
    kinds |= draft_.module.find_let(node.name) != nullptr ? let_kinds(node.name, open)
                                                          : kinds_of(node.name);
  }
  open.erase(name);
  return let_kinds_[name] = kinds & ~static_cast<unsigned>(kUnknown);
}

void NameChecker::report(const Expr& expr, const ExprNode& node, std::string message,
                         std::string hint) {
  draft_.diagnostics.push_back(
      {expr.line, node.column, std::max(node.length, 1), std::move(message), std::move(hint)});
}

std::vector<std::string> NameChecker::known_names() const {
  std::vector<std::string> names = dims_;
  for (const auto& [name, where] : draft_.declared) names.push_back(name);
  names.insert(names.end(), builtin_names().begin(), builtin_names().end());
  return names;
}

void NameChecker::check(const Expr& expr, unsigned allowed, std::string_view place,
                        const std::string& repeat) {
  for (const ExprNode& node : expr.nodes) check_node(expr, node, allowed, place, repeat);
}

void NameChecker::check_node(const Expr& expr, const ExprNode& node, unsigned allowed,
                             std::string_view place, const std::string& repeat) {
  if (node.op == Op::BlocksPerSm) {
    if ((allowed & kBlocksPerSm) == 0) {
      return report(
          expr, node, fmt::format("blocks_per_sm() cannot be used in {}", place),
          "it is known only after compiling; use it in grid(…), args(…), 'let' or scratch");
    }
    return check_blocks_per_sm(expr, node);
  }
  if (node.op == Op::Has) {
    const TensorDecl* input = draft_.module.find_tensor(node.name);
    if (input == nullptr ? draft_.broken_names.count(node.name) == 0 : !input->optional) {
      return report(expr, node, fmt::format("'{}' is not an optional input", node.name),
                    "has() takes an input declared with '?', as in 'input bias?: fp32[D]'");
    }
    if ((allowed & kHas) == 0) report(expr, node, fmt::format("has() cannot be used in {}", place));
    return;
  }
  if (node.op != Op::Name || draft_.broken_names.count(node.name) != 0) return;
  const unsigned kinds = kinds_of(node.name, repeat);
  if ((kinds & kUnknown) != 0) {
    return report(
        expr, node,
        fmt::format("unknown name '{}'{}", node.name, did_you_mean(node.name, known_names())),
        "dims are the symbols in the shapes of inputs and outputs");
  }
  if ((kinds & ~allowed) == 0) return;
  const bool let = draft_.module.find_let(node.name) != nullptr;
  const unsigned wrong = kinds & ~allowed;
  const bool never = (wrong & (kTensor | kTensormap | kFloatScalar)) != 0;
  report(expr, node,
         let ? fmt::format("'{}' cannot be used in {}: it needs something that is {}", node.name,
                           place, kind_text(wrong))
         : never ? fmt::format("'{}' is {}", node.name, kind_text(wrong))
                 : fmt::format("'{}' cannot be used in {}: it is {}", node.name, place,
                               kind_text(wrong)));
}

void NameChecker::check_blocks_per_sm(const Expr& expr, const ExprNode& node) {
  std::vector<std::string> kernels;
  for (const Group& group : draft_.module.groups) {
    for (const LaunchDecl& launch : group.launches) {
      if (same_kernel(node.name, launch.kernel)) return;
      kernels.push_back(launch.kernel);
    }
  }
  report(expr, node,
         fmt::format("no launch of '{}'{}", node.name, did_you_mean(node.name, kernels)),
         "blocks_per_sm() takes a kernel as a 'launch' line writes it");
}

bool NameChecker::is_pointer(const Expr& expr, int index) const {
  const ExprNode& node = expr.nodes[static_cast<size_t>(index)];
  if (node.op == Op::Name) return (kinds_of(node.name) & (kTensor | kTensormap)) != 0;
  if (node.op != Op::Pick) return false;
  return std::any_of(node.children.begin() + 1, node.children.end(),
                     [&](int child) { return is_pointer(expr, child); });
}

void NameChecker::check_argument(const Expr& expr, const std::string& repeat) {
  const unsigned numbers = kAfterCompile | kRepeat;
  const ExprNode& root = expr.root();
  if (root.op == Op::Name) {
    check_node(expr, root, numbers | kTensor | kTensormap | kFloatScalar, "args(…)", repeat);
    return;
  }
  if (!is_pointer(expr, static_cast<int>(expr.nodes.size()) - 1)) {
    return check(expr, numbers, "an expression", repeat);
  }
  std::set<int> tensors;  // the values of this pick()
  for (size_t i = 1; i < root.children.size(); ++i) {
    const int child = root.children[i];
    const ExprNode& node = expr.nodes[static_cast<size_t>(child)];
    if (node.op == Op::Name && (kinds_of(node.name) & kTensor) != 0) {
      tensors.insert(child);
    } else {
      report(expr, node, "this pick() mixes tensors with other things",
             "every value must be the name of a tensor");
      return;
    }
  }
  for (int i = 0; i + 1 < static_cast<int>(expr.nodes.size()); ++i) {
    if (tensors.count(i) == 0) {
      check_node(expr, expr.nodes[static_cast<size_t>(i)], numbers, "pick()", repeat);
    }
  }
}

void NameChecker::check_template_arguments(const LaunchDecl& launch,
                                           const std::set<std::string>& source_names,
                                           const std::string& repeat) {
  const auto fail = [&](const std::string& message, const std::string& hint) {
    draft_.diagnostics.push_back(
        {launch.line, launch.column, static_cast<int>(launch.kernel.size()), message, hint});
  };
  for (const std::string& name : template_argument_names(launch.kernel)) {
    const unsigned kinds = kinds_of(name, repeat);
    if (draft_.broken_names.count(name) != 0) continue;
    if ((kinds & (kTensor | kTensormap | kFloatScalar)) != 0) {
      fail(fmt::format("template argument '{}' is {}", name, kind_text(kinds)), "");
    } else if ((kinds & kBlocksPerSm) != 0) {
      fail(fmt::format("template argument '{}' is known only after compiling", name), "");
    } else if ((kinds & kUnknown) != 0 && source_names.count(name) == 0 && !is_cpp_word(name)) {
      fail(fmt::format("unknown name '{}' in the template arguments{}", name,
                       did_you_mean(name, known_names())),
           "template arguments use tunables, dims, lets, and names of the device code");
    }
  }
}

}  // namespace kw::kernel
