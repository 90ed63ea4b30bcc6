// Expressions may use different names in different places: a shape may use dims, a grid also
// blocks_per_sm(). The kind of a name is a bit, and each place allows a set of bits. A let has all
// kinds that its value uses, so a let cannot bring a name to a place that does not allow it. Scopes
// per place would need a table of names for each of about ten places. The message says what the
// name is and why the place does not allow it. The cost: lets must be resolved first, and a circle
// among them is reported there.
#include "kernel/check_names.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "kernel/cursor.h"
#include "kernel/kernel_name.h"
#include "kernel/plan_names.h"

namespace kw::kernel {

namespace {

struct KindText {
  unsigned kind;
  const char* is;  // "'x' is …"
};

constexpr std::array<KindText, 10> kKindTexts = {{
    {kTensor, "a tensor; tensors can be used only in args(…)"},
    {kTensormap, "a tensormap; tensormaps can be used only in args(…)"},
    {kFloatScalar, "a floating scalar; expressions hold integers only"},
    {kNumber, "a let with a dtype; such lets can be used only in args(…)"},
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

// A name that is declared twice keeps its first meaning; the second one was reported.
NameChecker::NameChecker(Draft& draft) : draft_(draft) {
  const Module& m = draft.module;
  for (const std::string& name : builtin_names()) kinds_.emplace(name, kBuiltin);
  for (const TuneDecl& tune : m.tunes) kinds_.emplace(tune.name, kTune);
  for (const TensorDecl& tensor : m.tensors) kinds_.emplace(tensor.name, kTensor);
  for (const ScalarDecl& scalar : m.scalars) {
    kinds_.emplace(scalar.name, tensor::is_float(scalar.dtype) ? kFloatScalar : kIntegerScalar);
  }
  for (const NumberDecl& number : m.numbers) kinds_.emplace(number.name, kNumber);
  for (const TensormapDecl& map : m.tensormaps) kinds_.emplace(map.name, kTensormap);
  for (const LetDecl& let : m.lets) lets_.emplace(let.name, &let);
  for (const std::string& dim : m.dims()) kinds_.emplace(dim, kDim);
}

unsigned NameChecker::kinds_of(const std::string& name, const std::string& repeat) const {
  if (!repeat.empty() && name == repeat) return kRepeat;
  const auto at = kinds_.find(name);
  return at == kinds_.end() ? kUnknown : at->second;
}

void NameChecker::check_lets() {
  for (const LetDecl& let : draft_.module.lets) {
    std::set<std::string> open;
    let_kinds(let, open);
  }
}

// The number of lets limits the depth. A circle is reported once; afterwards the let counts as
// known.
unsigned NameChecker::let_kinds(const LetDecl& let, std::set<std::string>& open) {
  if (const auto known = kinds_.find(let.name); known != kinds_.end()) return known->second;
  open.insert(let.name);
  unsigned kinds = 0;
  for (const ExprNode& node : let.value.nodes) {
    if (node.op == ExprOp::Has) kinds |= kHas;
    if (node.op == ExprOp::BlocksPerSm) kinds |= kBlocksPerSm;
    if (node.op != ExprOp::Name) continue;
    if (open.count(node.name) != 0) {
      report(let.value, node, fmt::format("'{}' needs its own value", node.name),
             "a 'let' may use other lets, but must not form a cycle");
      continue;
    }
    const auto other = lets_.find(node.name);
    kinds |= other != lets_.end() ? let_kinds(*other->second, open) : kinds_of(node.name);
  }
  open.erase(let.name);
  return kinds_[let.name] = kinds & ~kUnknown;
}

void NameChecker::report(const Expr& expr, const ExprNode& node, std::string message,
                         std::string hint) {
  draft_.diagnostics.push_back(
      {expr.line, node.column, std::max(node.length, 1), std::move(message), std::move(hint)});
}

std::string NameChecker::suggest(const std::string& name) const {
  constexpr size_t kEnough = 100;  // each suggestion compares all names, and no reader needs more
  if (draft_.diagnostics.size() > kEnough) return "";
  std::vector<std::string> names;
  for (const auto& [known, kind] : kinds_) names.push_back(known);
  return suggestion(name, names);
}

void NameChecker::check(const Expr& expr, unsigned allowed, std::string_view place,
                        const std::string& repeat) {
  for (const ExprNode& node : expr.nodes) check_node(expr, node, allowed, place, repeat);
}

void NameChecker::check_node(const Expr& expr, const ExprNode& node, unsigned allowed,
                             std::string_view place, const std::string& repeat) {
  if (node.op == ExprOp::BlocksPerSm) {
    if ((allowed & kBlocksPerSm) == 0) {
      return report(
          expr, node, fmt::format("blocks_per_sm() cannot be used in {}", place),
          "it is known only after compiling; use it in grid(…), args(…), 'let' or scratch");
    }
    return check_blocks_per_sm(expr, node);
  }
  if (node.op == ExprOp::Has) {
    const TensorDecl* input = draft_.module.find_tensor(node.name);
    if (input == nullptr ? draft_.broken_names.count(node.name) == 0 : !input->optional) {
      return report(expr, node, fmt::format("'{}' is not an optional input", node.name),
                    "has() takes an input declared with '?', as in 'input bias?: fp32[D]'");
    }
    if ((allowed & kHas) == 0) report(expr, node, fmt::format("has() cannot be used in {}", place));
    return;
  }
  if (node.op != ExprOp::Name || draft_.broken_names.count(node.name) != 0) return;
  const unsigned kinds = kinds_of(node.name, repeat);
  if ((kinds & kUnknown) != 0) {
    return report(expr, node, fmt::format("unknown name '{}'{}", node.name, suggest(node.name)),
                  "dims are the symbols in the shapes of inputs and outputs");
  }
  if ((kinds & ~allowed) == 0) return;
  const bool let = lets_.count(node.name) != 0;
  const unsigned wrong = kinds & ~allowed;
  const bool never = (wrong & (kTensor | kTensormap | kFloatScalar | kNumber)) != 0;
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
  report(expr, node, fmt::format("no launch of '{}'{}", node.name, suggestion(node.name, kernels)),
         "blocks_per_sm() takes a kernel as a 'launch' line writes it");
}

void NameChecker::check_number(const NumberExpr& expr) {
  for (const NumberNode& node : expr.nodes) {
    if (node.op == NumberOp::Integer) check(node.integer, kBeforeCompile, "int(…)");
    if (node.op != NumberOp::Name) continue;
    const ExprNode name{ExprOp::Name, 0, node.name, {}, node.column, node.length};
    const Expr whole{expr.text, expr.line, expr.column, {name}};
    check_node(whole, name, kBeforeCompile | kFloatScalar, "a number", "");
  }
}

bool NameChecker::is_pointer(const Expr& expr, int index) const {
  const ExprNode& node = expr.nodes[static_cast<size_t>(index)];
  if (node.op == ExprOp::Name) return (kinds_of(node.name) & (kTensor | kTensormap)) != 0;
  if (node.op != ExprOp::Pick) return false;
  return std::any_of(node.children.begin() + 1, node.children.end(),
                     [&](int child) { return is_pointer(expr, child); });
}

void NameChecker::check_argument(const Expr& expr, const std::string& repeat) {
  const unsigned numbers = kAfterCompile | kRepeat;
  const ExprNode& root = expr.root();
  if (root.op == ExprOp::Name) {
    check_node(expr, root, numbers | kTensor | kTensormap | kFloatScalar | kNumber, "args(…)",
               repeat);
    return;
  }
  if (!is_pointer(expr, static_cast<int>(expr.nodes.size()) - 1)) {
    return check(expr, numbers, "an expression", repeat);
  }
  std::set<int> tensors;  // the values of this pick()
  for (size_t i = 1; i < root.children.size(); ++i) {
    const int child = root.children[i];
    const ExprNode& node = expr.nodes[static_cast<size_t>(child)];
    if (node.op == ExprOp::Name && (kinds_of(node.name) & kTensor) != 0) {
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
    if ((kinds & (kTensor | kTensormap | kFloatScalar | kNumber)) != 0) {
      fail(fmt::format("template argument '{}' is {}", name, kind_text(kinds)), "");
    } else if ((kinds & kBlocksPerSm) != 0) {
      fail(fmt::format("template argument '{}' is known only after compiling", name), "");
    } else if ((kinds & kUnknown) != 0 && source_names.count(name) == 0 && !is_cpp_word(name)) {
      fail(fmt::format("unknown name '{}' in the template arguments{}", name, suggest(name)),
           "template arguments use tunables, dims, lets, and names of the device code");
    }
  }
}

}  // namespace kw::kernel
