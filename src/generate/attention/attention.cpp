// The problem: references write attention in many ways: masks, scales, biases, safe softmaxes. The
// choice: a matcher finds the two products and the softmax between them; everything else is
// pointwise work on a score. The alternative, matching whole known graphs, would fail with every
// variation. The cost: regions that only look like attention are fully analysed before they are
// refused.
#include "attention/attention.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "attention/causal.h"
#include "core/contains.h"
#include "emit/emit.h"
#include "graph/written_casts.h"

namespace kw::generate {

namespace {

/// Finds the role of each node.
class Matcher {
 public:
  explicit Matcher(const Region& region) : region_(region) {}

  std::optional<AttentionNodes> match() {
    if (!find_heavy() || !match_shares() || !match_power()) return std::nullopt;
    const Shape& scores = region_.node(nodes_.scores).shape;
    const Shape& second = region_.node(nodes_.second).shape;
    const Shape& first = region_.node(nodes_.first).shape;
    if (!same_shape(scores, first) || first.size() != second.size()) return std::nullopt;
    for (size_t d = 0; d + 2 < first.size(); ++d) {
      if (!first[d].same_text(second[d])) return std::nullopt;
    }
    for (const NodeId id : {nodes_.first, nodes_.second, nodes_.scores}) {
      if (!in_float(region_.node(id).dtype)) return std::nullopt;
    }
    if (heavy_below(nodes_.scores) != std::vector<NodeId>{nodes_.first}) return std::nullopt;
    if (!heavy_below(region_.node(nodes_.second).inputs[1]).empty()) return std::nullopt;
    Region after = region_;
    after.loads[nodes_.second] = {};
    if (!heavy_nodes(after).empty()) return std::nullopt;
    return nodes_;
  }

 private:
  bool find_heavy() {
    const std::vector<NodeId> heavy = heavy_nodes(region_);
    if (heavy.size() != 4 || !region_.in_place.empty()) return false;
    std::vector<NodeId> products;
    for (const NodeId id : heavy) {
      const Node& node = region_.node(id);
      const std::vector<int> last = {static_cast<int>(node.shape.size()) - 1};
      if (node.op == Op::MatMul) products.push_back(id);
      if (node.op == Op::Max && node.attrs.dims == last) nodes_.largest = id;
      if (node.op == Op::Sum && node.attrs.dims == last) nodes_.total = id;
    }
    if (products.size() != 2 || nodes_.largest == 0 || nodes_.total == 0) return false;
    nodes_.first = products[0];
    nodes_.second = products[1];
    return true;
  }

  const Node* computed(NodeId id, Op op) const {
    if (region_.loads.count(id) > 0 || region_.node(id).op != op) return nullptr;
    return &region_.node(id);
  }

  /// The node below casts between floats.
  NodeId bare(NodeId id) const {
    for (;;) {
      const Node* cast = computed(id, Op::Cast);
      if (cast == nullptr || !in_float(cast->dtype) ||
          !in_float(region_.node(cast->inputs[0]).dtype) ||
          graph::is_cast_to_byte(*region_.graph, *cast)) {
        return id;
      }
      id = cast->inputs[0];
    }
  }

  /// The value per row that is expanded to each element of the row.
  NodeId of_row(NodeId id) const {
    id = bare(id);
    const Node* expand = computed(id, Op::Expand);
    if (expand == nullptr) return id;
    const NodeId below = before_reshapes(region_, expand->inputs[0]);
    const bool same = same_shape(region_.node(below).shape, region_.node(expand->inputs[0]).shape);
    return same ? bare(below) : id;
  }

  bool is_constant(NodeId id, double number) const {
    const std::optional<double> known = constant_of(region_, id);
    return known && *known == number;
  }

  /// Whether the node tests that all elements of a row are -inf.
  bool is_empty_test(NodeId id) const {
    const Node* test = computed(of_row(id), Op::Eq);
    return test != nullptr && bare(test->inputs[0]) == nodes_.largest &&
           is_constant(test->inputs[1], -INFINITY);
  }

  /// The x of `where(empty, 0, x)`; otherwise empty.
  std::optional<NodeId> unless_empty(NodeId id) const {
    const Node* choice = computed(id, Op::Where);
    if (choice == nullptr || !is_empty_test(choice->inputs[0]) ||
        !is_constant(choice->inputs[1], 0)) {
      return std::nullopt;
    }
    return bare(choice->inputs[2]);
  }

  bool match_shares() {
    nodes_.shares = region_.node(nodes_.second).inputs[0];
    NodeId share = bare(nodes_.shares);
    if (const std::optional<NodeId> inner = unless_empty(share)) {
      nodes_.empty_is_zero = true;
      share = *inner;
    }
    if (const Node* quotient = computed(share, Op::Div)) {
      power_ = bare(quotient->inputs[0]);
      return of_row(quotient->inputs[1]) == nodes_.total;
    }
    const Node* product = computed(share, Op::Mul);
    if (product == nullptr) return false;
    for (const size_t i : {0, 1}) {
      const Node* inverse = computed(of_row(product->inputs[1 - i]), Op::Reciprocal);
      if (inverse == nullptr || bare(inverse->inputs[0]) != nodes_.total) continue;
      power_ = bare(product->inputs[i]);
      return true;
    }
    return false;
  }

  bool match_power() {
    if (bare(region_.node(nodes_.total).inputs[0]) != power_) return false;
    const Node* power = computed(power_, Op::Exp);
    if (power == nullptr) return false;
    const Node* shifted = computed(bare(power->inputs[0]), Op::Sub);
    if (shifted == nullptr) return false;
    nodes_.scores = shifted->inputs[0];
    if (bare(nodes_.scores) != bare(region_.node(nodes_.largest).inputs[0])) return false;
    const NodeId off = of_row(shifted->inputs[1]);
    return off == nodes_.largest || unless_empty(off) == nodes_.largest;
  }

  std::vector<NodeId> heavy_below(NodeId id) const {
    Region below = region_;
    below.stores = {{id, {}}};
    return heavy_nodes(below);
  }

  const Region& region_;
  AttentionNodes nodes_;
  NodeId power_ = 0;
};

/// Whether a node is one positive number, computed from constants and dims only.
bool is_fixed_positive(const Region& region, NodeId id) {
  if (region.loads.count(id) > 0) return false;
  const Node& node = region.node(id);
  const auto& in = node.inputs;
  switch (node.op) {
    case Op::Constant:
      if (!node.attrs.number_text.empty()) return region.numbers->at(number_key(node)).positive;
      return !node.attrs.starts.empty() || constant_of(region, id).value_or(0) > 0;
    case Op::Expand:
    case Op::Reshape:
    case Op::Cast:
    case Op::Sqrt:
    case Op::Rsqrt:
    case Op::Reciprocal:
      return is_fixed_positive(region, in[0]);
    case Op::Mul:
    case Op::Div:
      return is_fixed_positive(region, in[0]) && is_fixed_positive(region, in[1]);
    default:
      return false;
  }
}

/// The half type below casts and movement, otherwise the node's own: a tile of it loses nothing.
DType worth_keeping(const Region& region, NodeId id) {
  const DType own = region.node(id).dtype;
  for (;;) {
    const Node& node = region.node(id);
    if (is_half(node.dtype)) return node.dtype;
    const bool moves = graph::op_info(node.op).kind == OpKind::Movement;
    if (region.loads.count(id) > 0 || node.inputs.size() != 1) return own;
    if (node.op != Op::Cast && (!moves || is_heavy(node.op))) return own;
    id = node.inputs[0];
  }
}

}  // namespace

std::optional<std::vector<std::string>> aligned_packs(const Emitter& e, const Dim& address,
                                                      const std::string& inner, int64_t pack) {
  const auto step = coefficient(address, inner);
  if (!step || !step->same_text(Dim(1))) return std::nullopt;
  std::vector<std::string> conditions;
  for (const auto& [factors, number] : address.terms()) {
    if (contains(factors, inner)) continue;
    Dim known(number);
    for (const std::string& factor : factors) {
      const bool any = factor.front() == '(' || factor.back() == ']' || e.is_variable(factor);
      if (!any) known = known * Dim::symbol(factor, 1);
    }
    if (!known.is_constant()) {
      conditions.push_back(fmt::format("{} % {} == 0", as_factor(known), pack));
    } else if (known.value() % pack != 0) {
      return std::nullopt;
    }
  }
  return conditions;
}

void add_whole_packs(std::vector<std::string>& conditions, const Dim& length, int64_t pack) {
  if (length.is_constant() && length.value() % pack == 0) return;
  conditions.push_back(fmt::format("{} % {} == 0", as_factor(length), pack));
}

Attention::Attention(const Region& region, const AttentionNodes& nodes)
    : region_(region), nodes_(nodes) {
  batch_ = make_domain(Shape(shape().begin(), shape().end() - 2), "_b");
  ranges_ = ranges_of(batch_);
  ranges_.insert_or_assign("mi", rows());
  ranges_.insert_or_assign("ni", keys());
  ranges_.insert_or_assign("di", depth());
  ranges_.insert_or_assign("fi", width());
  const auto& first = region.node(nodes.first).inputs;
  operands_ = {operand_of("queries", first[0], "mi", "di", false),
               operand_of("keys", first[1], "ni", "di", true),
               operand_of("values", region.node(nodes.second).inputs[1], "ni", "fi", false)};
  std::vector<Dim> used;
  for (AttentionOperand& operand : operands_) look_at(operand, used);
  causal_ = causal_of(region, nodes.scores, at("mi", "ni"), ranges_);
  Emitter e(region);
  e.ranges = ranges_;
  std::vector<std::string> names = {"mi", "ni", "fi"};
  for (const Axis& dim : batch_.dims) names.push_back(dim.name);
  const int scope = e.open(names, 0);
  fits_ = true;
  e.on_node = [&](NodeId id, const Index& asked) -> std::optional<Value> {
    if (id != nodes_.first) return std::nullopt;
    const Index own = at("mi", "ni");
    for (size_t d = 0; d < asked.size(); ++d) fits_ = fits_ && asked[d].same_text(own[d]);
    return Value{{"x"}, scope};
  };
  e.value(nodes_.scores, at("mi", "ni"));
  fits_ = write_stores(e, scope, "x") && fits_ && !e.overflowed();
  used.insert(used.end(), e.used().indices.begin(), e.used().indices.end());
  axes_ = joined(batch_, used, {"b0", "b1", "b2", "b3", "b4", "b5", "b6", "b7"});
  if (axes_.axes.size() == 1) axes_ = joined(batch_, used, {"batch"});
}

Index Attention::at(const char* row, const char* column) const {
  Index index = batch_.index;
  index.push_back(variable(row));
  index.push_back(variable(column));
  return index;
}

AttentionOperand Attention::operand_of(const char* name, NodeId node, const char* outer,
                                       const char* inner, bool turned) const {
  AttentionOperand operand;
  operand.node = node;
  operand.name = name;
  operand.outer = outer;
  operand.inner = inner;
  operand.index = turned ? at(inner, outer) : at(outer, inner);
  operand.dtype = worth_keeping(region_, node);
  return operand;
}

void Attention::look_at(AttentionOperand& operand, std::vector<Dim>& used) const {
  Emitter e(region_);
  e.ranges = ranges_;
  std::vector<std::string> names = {operand.outer, operand.inner};
  for (const Axis& dim : batch_.dims) names.push_back(dim.name);
  e.open(names, 0);
  const int loads = operand.find(e, operand.node, operand.index, operand.dtype);
  used.insert(used.end(), e.used().indices.begin(), e.used().indices.end());
  if (loads == 0) return;
  const auto outer = coefficient(operand.address, operand.outer);
  const auto inner = coefficient(operand.address, operand.inner);
  operand.across = outer && outer->same_text(Dim(1)) && !(inner && inner->same_text(Dim(1)));
  if (!operand.direct) return;
  operand.aligned = aligned_packs(e, operand.address, operand.inner, pack_of(operand.dtype));
}

void Attention::prepare(Emitter& e) const {
  e.ranges = ranges_;
  e.rename = axes_.rename;
}

void Attention::open_block(Emitter& e) const {
  e.open(batch_variables(), 0, 0);
  for (const Dim& size : {rows(), keys(), depth(), width(), batches()}) e.note(size);
  if (causal_) e.note(causal_->reach);
}

std::vector<std::string> Attention::batch_variables() const {
  std::vector<std::string> names = {"batch"};
  for (const Axis& dim : batch_.dims) names.push_back(dim.name);
  for (const Axis& axis : axes_.axes) {
    if (axis.name != "batch") names.push_back(axis.name);
  }
  return names;
}

void Attention::write_block(Emitter& e, CudaWriter& w, const TargetContext& context) const {
  const bool skips = causal_ && context.precision.nan == task::NanPolicy::Never;
  const std::string keys = this->keys().text();
  w.line("const Index tiles_m = ({} + kM - 1) / kM;", rows().text());
  w.line("const Index batch = blockIdx.x / tiles_m;");
  // The longest rows come first.
  w.line(skips ? "const Index first_m = (tiles_m - 1 - blockIdx.x % tiles_m) * kM;"
               : "const Index first_m = blockIdx.x % tiles_m * kM;");
  write_parts(axes_.axes, "batch", e, w);
  if (!skips) {
    w.line("const Index end = {};", keys);
    return;
  }
  const bool own = causal_->reach.same_text(Dim(0));
  w.line("const Index reach = first_m + kM{};",
         own ? "" : fmt::format(" + ({})", e.text(causal_->reach)));
  w.line("const Index end = reach < {0} ? reach : {0};", keys);
}

Value Attention::score(Emitter& e, NodeId node, const std::string& product, int scope,
                       const std::map<NodeId, std::string>& known) const {
  e.on_node = [&](NodeId id, const Index&) -> std::optional<Value> {
    if (id == nodes_.first) return Value{{product}, scope};
    const auto own = known.find(id);
    if (own == known.end()) return std::nullopt;
    return Value{{own->second, false}, scope};
  };
  const Value value = e.value(node, at("mi", "ni"));
  e.on_node = nullptr;
  return value;
}

/// The node below casts between floats.
NodeId Attention::bare(NodeId node) const {
  while (region_.loads.count(node) == 0 && region_.node(node).op == Op::Cast &&
         in_float(region_.node(region_.node(node).inputs[0]).dtype) &&
         !graph::is_cast_to_byte(*region_.graph, region_.node(node))) {
    node = region_.node(node).inputs[0];
  }
  return node;
}

std::optional<MaskedScores> Attention::hidden(NodeId node) const {
  node = bare(node);
  const Node& choice = region_.node(node);
  if (region_.loads.count(node) > 0 || choice.op != Op::Where) return std::nullopt;
  Region tested = region_;
  tested.stores = {{choice.inputs[0], {}}};
  if (!heavy_nodes(tested).empty()) return std::nullopt;
  for (const size_t side : {2, 1}) {
    if (constant_of(region_, choice.inputs[side]) != std::optional<double>(-INFINITY)) continue;
    return MaskedScores{choice.inputs[3 - side], choice.inputs[0], side == 1};
  }
  return std::nullopt;
}

std::optional<size_t> Attention::fixed_side(NodeId node) const {
  const Node& product = region_.node(node);
  const bool divides = product.op == Op::Div;
  if (region_.loads.count(node) > 0 || (product.op != Op::Mul && !divides)) return std::nullopt;
  for (const size_t side : {1, 0}) {
    if (divides && side == 0) break;
    if (bare(product.inputs[1 - side]) != nodes_.first) continue;
    if (is_fixed_positive(region_, product.inputs[side])) return side;
  }
  return std::nullopt;
}

std::optional<NodeId> Attention::scaled() const {
  for (const NodeId id : interior(region_)) {
    if (fixed_side(id)) return id;
  }
  return std::nullopt;
}

std::optional<std::string> Attention::factor(Emitter& e, NodeId node) const {
  node = bare(node);
  if (node == nodes_.first) return "";
  const std::optional<size_t> side = fixed_side(node);
  if (!side) return std::nullopt;
  const Node& product = region_.node(node);
  const std::string number = e.value(product.inputs[*side], at("mi", "ni")).expr.operand();
  return product.op == Op::Div ? "1.0f / " + number : number;
}

bool Attention::write_stores(Emitter& e, int scope, const std::string& value,
                             const KeepResult& keep) const {
  return write_results(region_, nodes_.second, at("mi", "fi"), ranges_, e, scope, value, keep);
}

std::optional<Attention> attention_of(const Region& region) {
  const std::optional<AttentionNodes> nodes = Matcher(region).match();
  if (!nodes) return std::nullopt;
  Attention attention(region, *nodes);
  if (!attention.fits()) return std::nullopt;
  return attention;
}

}  // namespace kw::generate
