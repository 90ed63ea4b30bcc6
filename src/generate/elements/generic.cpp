// The schedule that applies to every region: one thread per element, and loops for ops that read
// many elements. Sorted elements are written to their rank, so that each is read once.
#include <fmt/core.h>

#include "elements/schedules.h"
#include "emit/emit.h"

namespace kw::generate {

namespace {

class Generic : ScheduleFrame {
 public:
  Generic(const Region& region, const TargetContext& context)
      : ScheduleFrame(region, context), e_(region, 1) {}

  Kernel emit() {
    const Node& root = region_.root();
    const bool ranks = region_.stores.size() == 1 &&
                       graph::op_info(root.op).kind == OpKind::Selection &&
                       region_.loads.count(region_.stores[0].node) == 0;
    const Shape& shape = ranks ? region_.node(root.inputs[0]).shape : root.shape;
    const Domain domain = make_domain(shape, "i");
    e_.ranges = ranges_of(domain);
    std::vector<std::string> variables = {"i"};
    for (const Axis& dim : domain.dims) variables.push_back(dim.name);
    e_.open(variables, 0, 0);
    if (ranks) {
      write_ranked(root, domain);
    } else {
      write_elements(domain);
    }
    const std::string body = e_.close();
    return assembled(domain, body);
  }

 private:
  void write_elements(const Domain& domain) {
    for (const Store& store : region_.stores) {
      const Shape& shape = region_.node(store.node).shape;
      const Index index = reshaped(domain.shape, domain.index, shape, e_.ranges);
      const Value value = e_.value(store.node, index);
      e_.store(1, store, linear(shape, index), value);
    }
  }

  void write_ranked(const Node& root, const Domain& domain) {
    const auto along = static_cast<size_t>(root.attrs.dims[0]);
    const Node& input = region_.node(root.inputs[0]);
    Value x = e_.value(root.inputs[0], domain.index);
    x = e_.bound({x.expr, 1}, input.dtype, "candidate");
    const std::string rank = serial_rank(e_, 1, root, root.inputs[0], domain.index, x.expr.text);
    const bool values = root.op == Op::SortValues || root.op == Op::TopKValues;
    Index to = domain.index;
    to[along] = variable(rank);
    if (!values) x.expr = {fmt::format("static_cast<long long>({})", e_.text(domain.index[along]))};
    if (root.shape[along].same_text(input.shape[along])) {
      e_.store(1, region_.stores[0], linear(root.shape, to), x);
      return;
    }
    const auto block = e_.at(1).block("if ({} < {})", rank, e_.text(root.shape[along]));
    e_.store(1, region_.stores[0], linear(root.shape, to), x);
  }

  Kernel assembled(const Domain& domain, const std::string& values) {
    CudaWriter w(1);
    const Dim total = graph::count_of(domain.shape);
    const std::string threads = kernel_.name("THREADS");
    w.line("const Index i = static_cast<Index>(blockIdx.x) * {} + threadIdx.x;", threads);
    w.line("if (i >= {}) return;", e_.text(total));
    const Index at = unravel(variable("i"), domain.shape, {{"i", total}});
    for (size_t d = 0, v = 0; d < domain.shape.size(); ++d) {
      if (v == domain.dims.size() || !mentions(domain.index[d], domain.dims[v].name)) continue;
      w.line("const Index {} = {};", domain.dims[v++].name, e_.text(at[d]));
    }
    w.raw(e_.at(0).text());
    w.raw(values);
    const DeviceFunction function =
        kernel_.function(e_, kernel_.result() + ": one thread per element.", region_.name,
                         "typename Index", threads, w.text());
    kernel_.tune("THREADS", {128, 256, 64});
    const bool empty = total.is_constant() && total.value() == 0;
    const std::string grid = fmt::format("ceil_div({}, {})", total.text(), threads);
    kernel_.each_index([&](const Instance& instance) -> std::vector<Launch> {
      return {function.launch(instance.index, empty ? "1" : grid, threads)};
    });
    return kernel_.take();
  }

  Emitter e_;
};

bool generic_applies(const Region& region, const TargetContext&) {
  const Dim count = graph::count_of(region.root().shape);
  for (const Store& store : region.stores) {
    if (!graph::count_of(store.to.shape).same_text(count)) return false;
  }
  const std::vector<NodeId> heavy = heavy_nodes(region);
  return heavy.empty() || heavy == std::vector<NodeId>{region.stores[0].node};
}

}  // namespace

Schedules generic_schedules() {
  return {{"generic", "one thread per element, loops for the rest", generic_applies,
           emit_by<Generic>, nullptr, false}};
}

}  // namespace kw::generate
