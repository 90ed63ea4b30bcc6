#include <fmt/core.h>

#include "lines/scan.h"
#include "lines/words.h"

namespace kw::lines {

using graph::Node;
using graph::NodeId;
using graph::Op;
using graph::OpKind;
using tensor::DType;

namespace {

Joining::Kind scan_kind(Op op) {
  switch (op) {
    case Op::CumSum:
      return Joining::Kind::Sum;
    case Op::CumProd:
      return Joining::Kind::Product;
    case Op::CumMax:
    case Op::CumMaxIndex:
      return Joining::Kind::Max;
    default:
      return Joining::Kind::Min;
  }
}

}  // namespace

bool is_place(Op op) { return op == Op::CumMaxIndex || op == Op::CumMinIndex; }

std::optional<Scans> scans_of(const Region& region) {
  if (!region.in_place.empty()) return std::nullopt;
  Scans scans;
  for (const NodeId id : heavy_nodes(region)) {
    const Node& node = region.node(id);
    if (graph::op_info(node.op).kind != OpKind::Scan) return std::nullopt;
    if (scans.first == nullptr) {
      scans.first = &node;
      scans.input = node.inputs[0];
      scans.kind = scan_kind(node.op);
    }
    const bool alike = node.inputs[0] == scans.input && scan_kind(node.op) == scans.kind &&
                       node.attrs.dims == scans.first->attrs.dims &&
                       node.attrs.reverse == scans.first->attrs.reverse &&
                       node.attrs.exclusive == scans.first->attrs.exclusive;
    if (!alike) return std::nullopt;
    scans.places = scans.places || is_place(node.op);
    scans.nodes.insert(id);
  }
  if (scans.first == nullptr || depends_on(region, scans.input, scans.nodes)) return std::nullopt;
  if (!stores_follow(region, scans.nodes, scans.first->shape)) return std::nullopt;
  return scans;
}

bool needs_order(const Scans& scans) {
  return scans.kind == Joining::Kind::Product && scans.first->dtype == DType::Fp64;
}

Joining joining_of(const Region& region, const Scans& scans) {
  // Sums of integers are wider than what they sum.
  const bool adds = scans.kind == Joining::Kind::Sum || scans.kind == Joining::Kind::Product;
  const DType type = adds ? scans.first->dtype : region.node(scans.input).dtype;
  return Joining(region.name, in_float(type) ? DType::Fp32 : type, scans.kind,
                 scans.places ? Joining::Places::Last : Joining::Places::None);
}

RowLoop loop_of(const Region& region, const Scans& scans) {
  std::vector<NodeId> values = {scans.input};
  for (const Store& store : region.stores) values.push_back(store.node);
  return RowLoop(region, scans.first->shape, scans.axis(), values, scans.nodes);
}

std::string converted(const Region& region, const Scans& scans, const Joining& joining,
                      const Value& in) {
  const std::string to = register_type(joining.dtype());
  if (to == register_type(region.node(scans.input).dtype)) return in.expr.text;
  return fmt::format("static_cast<{}>({})", to, in.expr.text);
}

}  // namespace kw::lines
