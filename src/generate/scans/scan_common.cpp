#include <fmt/core.h>

#include "emit/emit.h"
#include "scans/scan.h"

namespace kw::generate {

namespace {

Joining::Kind scan_kind(Op op) {
  switch (op) {
    case Op::CumSum:
      return Joining::Kind::Sum;
    case Op::CumProd:
      return Joining::Kind::Product;
    case Op::CumLogSumExp:
      return Joining::Kind::LogSum;
    case Op::CumMax:
    case Op::CumMaxIndex:
      return Joining::Kind::Max;
    default:
      return Joining::Kind::Min;
  }
}

/// Whether the node returns the position of the best element.
bool is_place(Op op) { return op == Op::CumMaxIndex || op == Op::CumMinIndex; }

}  // namespace

std::optional<Scans> scans_of(const Region& region) {
  bool places = false;
  const auto found = siblings_of(region, [&](const Node& first, const Node& node) {
    places = places || is_place(node.op);
    return graph::op_info(node.op).kind == OpKind::Scan &&
           scan_kind(node.op) == scan_kind(first.op) && node.attrs.reverse == first.attrs.reverse &&
           node.attrs.exclusive == first.attrs.exclusive;
  });
  if (!found || !stores_follow(region, found->nodes, found->first->shape)) return std::nullopt;
  return Scans{*found, scan_kind(found->first->op), places};
}

bool needs_order(const Scans& scans) {
  return scans.kind == Joining::Kind::Product && scans.first->dtype == DType::Fp64;
}

Joining joining_of(const Region& region, const Scans& scans) {
  // Sums of integers are wider than their elements.
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

std::optional<Value> scanned(const Region& region, const Scans& scans, const Joining& joining,
                             NodeId id, int level) {
  if (scans.nodes.count(id) == 0) return std::nullopt;
  if (is_place(region.node(id).op))
    return Value{{fmt::format("static_cast<long long>({})", joining.place("now"))}, level};
  return Value{{joining.value("now")}, level};
}

}  // namespace kw::generate
