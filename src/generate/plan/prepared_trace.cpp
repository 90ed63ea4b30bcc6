// The problem: a trace has extents such as D / 3 and H - 2, and names that plans or CUDA do not
// allow. The choice: run the passes, then give quotients of dims and sums from windows a name with
// a let. Indices are then polynomials over plain names, which index.cpp can simplify. The
// alternative, index arithmetic over quotients, would have to divide sums. The cost: generated
// plans have let lines, and interfaces must replace them (module_text.cpp).
#include "plan/prepared_trace.h"

#include <algorithm>
#include <numeric>

#include "core/ascii.h"
#include "core/contains.h"
#include "emit/emit.h"
#include "graph/promote.h"
#include "kernel/number_expr.h"
#include "plan/passes.h"

namespace kw::generate {

namespace {

/// Gives names to quotients of dims, so that indices are polynomials over plain names.
class Quotients {
 public:
  explicit Quotients(Names& names) : names_(names) {}

  Dim named(const Dim& dim) {
    Dim out(0);
    bool changed = false;
    for (const auto& [factors, coefficient] : dim.terms()) {
      Dim term(coefficient);
      for (const std::string& factor : factors) {
        const std::string name = name_of(factor);
        changed = changed || name != factor;
        term = term * Dim::symbol(name, 1);
      }
      out = out + term;
    }
    return changed ? with_value(out, dim.value()) : dim;
  }
  /// A name for an extent that is a sum, so that indices can be divided by it.
  Dim as_name(const Dim& sum) { return Dim::symbol(name_of(sum.text()), sum.value()); }

  std::vector<std::pair<std::string, std::string>> lets;

 private:
  std::string name_of(const std::string& factor) {
    const bool plain = identifiers(factor) == std::vector<std::string>{factor};
    if (plain && kept(factor)) return factor;
    auto found = names_.quotients.find(factor);
    if (found == names_.quotients.end()) {
      const std::string name = safe_name(plain ? factor : "PART", names_.taken);
      found = names_.quotients.emplace(factor, name).first;
    }
    const std::pair<std::string, std::string> let{found->second, factor};
    if (!contains(lets, let)) lets.push_back(let);
    return let.first;
  }

  static bool kept(const std::string& dim) {
    const auto words = reserved_words();
    return !contains(words, dim);
  }

  Names& names_;
};

/// Whether a number is above 0 at all dims. Extents are at least 1; int(…) may be a difference.
bool is_positive(const kernel::NumberExpr& expr, size_t at, const std::set<std::string>& dims) {
  const kernel::NumberNode& node = expr.nodes[at];
  const auto child = [&](size_t i) {
    return is_positive(expr, static_cast<size_t>(node.children[i]), dims);
  };
  switch (node.op) {
    case kernel::NumberOp::Literal:
      return node.value > 0;
    case kernel::NumberOp::Name:
      return dims.count(node.name) > 0;
    case kernel::NumberOp::Add:
    case kernel::NumberOp::Multiply:
    case kernel::NumberOp::Divide:
      return child(0) && child(1);
    case kernel::NumberOp::Call:
      return (node.name == "sqrt" || node.name == "pow" || node.name == "fp16" ||
              node.name == "bf16") &&
             child(0);
    default:
      return false;
  }
}

/// Gives names to the numbers of the plan: "NUMBER", or "lr_value" for a scalar itself.
PlanNumbers numbers_of(const Graph& graph, Names& names) {
  PlanNumbers numbers;
  for (const Node& node : graph.nodes) {
    if (node.op != Op::Constant || node.attrs.number_text.empty()) continue;
    const std::string key = number_key(node), &text = node.attrs.number_text;
    auto found = names.numbers.find(key);
    if (found == names.numbers.end()) {
      const bool plain = identifiers(text) == std::vector<std::string>{text};
      found = names.numbers.emplace(key, safe_name(plain ? text + "_value" : "NUMBER", names.taken))
                  .first;
    }
    const DType dtype = tensor::is_float(node.dtype) ? graph::opmath(node.dtype) : DType::Int64;
    const auto parsed = kernel::parse_number(text);
    const bool positive = parsed && is_positive(*parsed, parsed->nodes.size() - 1, names.dims);
    numbers.emplace(key, PlanNumber{found->second, dtype, text, positive});
  }
  return numbers;
}

/// The number of windows along a dim is a sum, "H - 2", and so are many extents after it. Products
/// of such sums cannot be factored again; products of names can.
class WindowCounts {
 public:
  explicit WindowCounts(Quotients& quotients) : quotients_(quotients) {}

  void add(const Dim& extent) {
    const Dim left = primitive(named(extent));
    if (left.terms().size() < 2 || left.value() < 1) return;
    Dim name = quotients_.as_name(left);
    sums_.emplace_back(left, std::move(name));
  }

  Dim named(const Dim& extent) const {
    Dim left = extent, names(1);
    for (const auto& [sum, name] : sums_) {
      while (left.terms().size() > 1) {
        const Dim part = floor_div(left, sum);
        if (!(part * sum).same_text(left) || part.value() * sum.value() != left.value()) break;
        left = part;
        names = names * name;
      }
    }
    return names * left;
  }
  bool empty() const { return sums_.empty(); }

 private:
  /// The sum divided by the common factor of its terms: 2 * D - 2 becomes D - 1.
  static Dim primitive(const Dim& sum) {
    int64_t number = 0;
    for (const auto& [factors, coefficient] : sum.terms()) number = std::gcd(number, coefficient);
    return number > 1 ? floor_div(sum, Dim(number)) : sum;
  }

  Quotients& quotients_;
  std::vector<std::pair<Dim, Dim>> sums_;  // sums and their names
};

void name_window_counts(Graph& graph, Quotients& quotients) {
  WindowCounts counts(quotients);
  for (const Node& node : graph.nodes) {
    if (node.op != Op::Window) continue;
    for (const Dim& extent : node.shape) counts.add(extent);
  }
  if (counts.empty()) return;
  for (Node& node : graph.nodes) {
    for (Dim& extent : node.shape) extent = counts.named(extent);
    for (Dim& start : node.attrs.starts) start = counts.named(start);
  }
}

Shape named(Quotients& quotients, const Shape& shape) {
  Shape out;
  for (const Dim& dim : shape) out.push_back(quotients.named(dim));
  return out;
}

std::string identifier_of(const std::string& name) {
  const size_t slash = name.find_last_of('/');
  std::string out = slash == std::string::npos ? name : name.substr(slash + 1);
  for (char& c : out) {
    if (!is_ascii_alnum(c)) c = '_';
  }
  if (out.empty() || std::isdigit(static_cast<unsigned char>(out[0])) != 0) out = "kernel_" + out;
  // Device functions have these names.
  if (is_helper(out) || graph::op_from_name(out)) out += "_kernel";
  return out;
}

}  // namespace

Names names_of(const task::Task& task, const Graph& graph) {
  Names names;
  for (const auto& [dim, range] : task.dims) names.dims.insert(dim);
  names.taken = names.dims;
  for (const task::ScalarSpec& scalar : task.scalars) names.taken.insert(scalar.name);
  for (const char* tunable : {"THREADS", "VEC", "UNROLL", "STREAM", "LANES", "ITEMS", "PARTS"}) {
    names.taken.insert(tunable);
  }
  names.kernel = safe_name(identifier_of(task.name), names.taken);
  for (const task::TensorSpec& spec : task.inputs) {
    names.inputs[spec.name] = safe_name(spec.name, names.taken);
  }
  for (const graph::NamedNode& output : graph.outputs) {
    const task::TensorSpec* input = task.find_input(output.name);
    if (input != nullptr && input->written) {
      names.outputs[output.name] = names.inputs[output.name];
      names.in_place.insert(names.inputs[output.name]);
    } else {
      names.outputs[output.name] = safe_name(output.name, names.taken);
    }
  }
  return names;
}

Result<Program> make_program(const Graph& trace, Names& names, const Options& options) {
  Program program;
  program.graph = KW_TRY(run_passes(trace, options.disabled_passes));
  program.guards = trace.guards;
  Quotients quotients(names);
  for (Node& node : program.graph.nodes) {
    node.shape = named(quotients, node.shape);
    for (Dim& start : node.attrs.starts) start = quotients.named(start);
  }
  name_window_counts(program.graph, quotients);
  program.lets = quotients.lets;
  program.numbers = numbers_of(program.graph, names);
  for (const graph::NamedNode& input : program.graph.inputs) {
    const Node& node = program.graph[input.node];
    const auto name = names.inputs.find(input.name);
    if (name == names.inputs.end())
      return input_error("the trace has an input '{}' that the task lacks", input.name);
    program.inputs[input.node] = {name->second, node.dtype, node.shape};
  }
  for (const graph::NamedNode& output : program.graph.outputs) {
    const Node& node = program.graph[output.node];
    const auto name = names.outputs.find(output.name);
    if (name == names.outputs.end())
      return input_error("output '{}' exists at some shapes only", output.name);
    program.outputs.push_back({output.node, {name->second, node.dtype, node.shape}});
  }
  program.names = names;
  return program;
}

}  // namespace kw::generate
