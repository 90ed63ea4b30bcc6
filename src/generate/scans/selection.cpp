#include "scans/selection.h"

#include <fmt/core.h>

#include "core/text.h"
#include "emit/emit.h"

namespace kw::generate {

namespace {

bool is_sort(Op op) { return op == Op::SortValues || op == Op::SortIndices; }
bool is_rank(Op op) { return op == Op::SortIndices || op == Op::TopKIndices; }

}  // namespace

std::optional<Selection> selection_of(const Region& region) {
  const auto found = siblings_of(region, [](const Node& first, const Node& node) {
    return graph::op_info(node.op).kind == OpKind::Selection &&
           node.attrs.descending == first.attrs.descending &&
           is_sort(node.op) == is_sort(first.op) && same_shape(node.shape, first.shape);
  });
  if (!found) return std::nullopt;
  Selection selection{*found, is_sort(found->first->op)};
  for (const Store& store : region.stores)
    if (!results_per_row(region, selection, store)) return std::nullopt;
  return selection;
}

RowLoop loop_of(const Region& region, const Selection& selection) {
  return RowLoop(region, region.node(selection.input).shape, selection.axis(), {selection.input},
                 selection.nodes, selection.first->shape);
}

std::optional<Dim> results_per_row(const Region& region, const Selection& selection,
                                   const Store& store) {
  const Shape& shape = region.node(before_reshapes(region, store.node)).shape;
  const Shape& rows = selection.first->shape;
  if (shape.size() != rows.size()) return std::nullopt;
  for (size_t d = 0; d < shape.size(); ++d)
    if (d != selection.axis() && !shape[d].same_text(rows[d])) return std::nullopt;
  return shape[selection.axis()];
}

bool has_wide_keys(const Region& region, const Selection& selection) {
  return tensor::dtype_size(region.node(selection.input).dtype) == 8;
}

std::string key_function(const Region& region, const Selection& selection, bool largest_first) {
  const DType dtype = region.node(selection.input).dtype;
  const bool wide = has_wide_keys(region, selection);
  const std::string word = wide ? "unsigned long long" : "unsigned int";
  const std::string top = wide ? "0x8000000000000000ull" : "0x80000000u";
  const bool flip = selection.first->attrs.descending != largest_first;
  CudaWriter w;
  w.comment(fmt::format("A number that {} with the value; NaN counts as the largest value.",
                        flip ? "falls" : "grows"));
  {
    const auto function = w.block("__device__ __forceinline__ {} {}_key({} value)", word,
                                  region.name, register_type(dtype));
    std::string key = fmt::format("static_cast<{}>(value)", word);
    if (in_float(dtype) || dtype == DType::Fp64) {
      // Adding 0 turns -0 into 0.
      w.line("const {} bits = {}(value + {});", word,
             wide ? "__double_as_longlong" : "__float_as_uint", literal(dtype, 0, 0));
      w.line("const {} ordered = bits & {} ? ~bits : bits | {};", word, top, top);
      key = fmt::format("value != value ? {} : ordered", wide ? "~0ull" : "~0u");
    } else if (dtype != DType::Bool && !tensor::is_unsigned_int(dtype)) {
      key = fmt::format("static_cast<{}>({}) ^ {}", word,
                        wide ? "value" : "static_cast<int>(value)", top);
    }
    w.line(flip ? fmt::format("return ~({});", key) : fmt::format("return {};", key));
  }
  return w.text();
}

bool SelectionResults::write(Emitter& e, int level, const std::string& order, CudaWriter& out,
                             const std::string& from, const std::string& step) {
  bool follows = true;
  const Index row = loop_.index();
  for (const Store& store : region_.stores) {
    const Dim count = *results_per_row(region_, selection_, store);
    const int scope = e.open({"place"}, level, 1);
    e.ranges.insert_or_assign("place", count);
    e.on_node = [&, scope](NodeId id, const Index& at) -> std::optional<Value> {
      if (selection_.nodes.count(id) == 0) return std::nullopt;
      for (size_t d = 0; d < at.size(); ++d)
        if (d != selection_.axis()) follows = follows && at[d].same_text(row[d]);
      const std::string place = replace_all(order, "@", e.text(at[selection_.axis()]));
      const int own = std::max(scope, e.level_of(at[selection_.axis()]));
      const std::string picked = e.fresh_variable("picked", own);
      e.at(own).line("const Index {} = {};", picked, place);
      if (is_rank(region_.node(id).op))
        return Value{{fmt::format("static_cast<long long>({})", picked)}, own};
      e.ranges.insert_or_assign(picked, loop_.length());
      return e.value(selection_.input, loop_.index_at(variable(picked)));
    };
    Shape shape = selection_.first->shape;
    shape[selection_.axis()] = count;
    const Index at = reshaped(
        shape,
        loop_.index_at(count.is_constant() && count.value() == 1 ? Dim(0) : variable("place")),
        store.to.shape, e.ranges);
    const Value value = e.value(store.node, at);
    e.store(scope, store, linear(store.to.shape, at), value);
    const std::string end = e.text(count);
    const std::string body = e.close();
    e.on_node = nullptr;
    const auto loop = out.block("for (Index place = {}; place < {}; place += {})", from, end, step);
    out.raw(body);
  }
  return follows;
}

}  // namespace kw::generate
