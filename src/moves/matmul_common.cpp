#include <fmt/core.h>

#include "moves/matmul.h"
#include "moves/words.h"

namespace kw::moves {

using graph::Node;
using graph::NodeId;
using graph::Op;
using tensor::DType;

Product::Product(const Region& region, NodeId node) : region_(region), id_(node) {}

Dim Product::batches() const {
  Dim count(1);
  for (size_t d = 0; d + 2 < node().shape.size(); ++d) count = count * node().shape[d];
  return count;
}

Ranges Product::ranges() const {
  Ranges ranges;
  ranges.insert_or_assign("batch", batches());
  ranges.insert_or_assign("mi", m());
  ranges.insert_or_assign("ni", n());
  ranges.insert_or_assign("ki", k());
  return ranges;
}

Index Product::at(const char* row, const char* column) const {
  const Shape outer(node().shape.begin(), node().shape.end() - 2);
  Index index = unravel(variable("batch"), outer, ranges());
  index.push_back(variable(row));
  index.push_back(variable(column));
  return index;
}

ProductOperand Product::operand(bool left, bool strip) const {
  ProductOperand operand;
  operand.left = left;
  operand.tile = left ? "left" : "right";
  operand.node = node().inputs[left ? 0 : 1];
  while (strip && region_.loads.count(operand.node) == 0 &&
         region_.node(operand.node).op == Op::Cast &&
         is_half(region_.node(region_.node(operand.node).inputs[0]).dtype))
    operand.node = region_.node(operand.node).inputs[0];
  // Where the element lies is asked of a trial run: it sees through permutes and reshapes.
  Emitter e(region_);
  e.ranges = ranges();
  e.open({"batch", "mi", "ni", "ki"}, 0);
  int loads = 0;
  e.on_load = [&](NodeId, const Buffer& buffer, const Dim& address) -> std::optional<Value> {
    ++loads;
    operand.address = address;
    operand.direct = buffer.dtype == region_.node(operand.node).dtype;
    return Value{{"x"}, 1};
  };
  const Value value = e.value(operand.node, left ? left_index() : right_index());
  operand.direct = operand.direct && loads == 1 && value.expr.text == "x";
  const auto step = coefficient(operand.address, "ki");
  operand.along_k = step && step->same_text(Dim(1));
  return operand;
}

bool Product::write_stores(Emitter& e, int scope, const std::string& value) const {
  bool in_place = true;
  const Index own = index();
  e.on_node = [&](NodeId id, const Index& asked) -> std::optional<Value> {
    if (id != id_) return std::nullopt;
    for (size_t d = 0; d < asked.size(); ++d) in_place = in_place && asked[d].same_text(own[d]);
    return Value{{value}, scope};
  };
  for (const Store& store : region_.stores) {
    if (!graph::count_of(store.to.shape).same_text(graph::count_of(node().shape))) return false;
    const Index to = reshaped(node().shape, own, store.to.shape, e.ranges);
    const Value result = e.value(store.node, to);
    e.touch(store.to);
    if (store.to.dtype == DType::E8m0) e.need("to_exponent");
    e.at(scope).line(fmt::format("{}[{}] = {};", store.to.name, e.text(linear(store.to.shape, to)),
                                 e.stored(result, store.to.dtype)));
  }
  e.on_node = nullptr;
  return in_place;
}

std::optional<Product> product_of(const Region& region) {
  const std::vector<NodeId> heavy = heavy_nodes(region);
  if (heavy.size() != 1 || !region.in_place.empty()) return std::nullopt;
  if (region.node(heavy[0]).op != Op::MatMul) return std::nullopt;
  const Product product(region, heavy[0]);
  Emitter e(region);
  e.ranges = product.ranges();
  const int scope = e.open({"batch", "mi", "ni", "ki"}, 0);
  if (!product.write_stores(e, scope, "x")) return std::nullopt;
  return product;
}

}  // namespace kw::moves
