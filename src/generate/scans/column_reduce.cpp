// The problem: reductions over leading or middle dims read memory across the reduced dim. The
// choice: adjacent threads keep adjacent results, so that every step is one coalesced, vectorised
// access. The threads of a block that share results combine them in shared memory at the end. The
// alternative, transposing first, would read and write everything once more. The cost: few results
// give few blocks, so there are two schedules:
// - column_whole: a block reduces its columns completely.
// - column_split: the reduced dims are divided into chunks, and a second launch combines their
//   results.
#include <fmt/core.h>

#include <algorithm>

#include "core/contains.h"
#include "core/text.h"
#include "emit/emit.h"
#include "scans/joining.h"
#include "scans/own_row.h"
#include "scans/schedules.h"
#include "scans/siblings.h"

namespace kw::generate {

namespace {

constexpr size_t kMostReductions = 4;

std::optional<Joining::Kind> kind_of(Op op) {
  switch (op) {
    case Op::Sum:
      return Joining::Kind::Sum;
    case Op::Prod:
      return Joining::Kind::Product;
    case Op::Max:
    case Op::ArgMax:
      return Joining::Kind::Max;
    case Op::Min:
    case Op::ArgMin:
      return Joining::Kind::Min;
    default:
      return std::nullopt;
  }
}

bool finds_place(Op op) { return op == Op::ArgMax || op == Op::ArgMin; }

bool last_is_kept(const Node& input, const std::vector<int>& dims) {
  for (size_t d = input.shape.size(); d-- > 0;) {
    const bool one = input.shape[d].is_constant() && input.shape[d].value() == 1;
    if (!one) return !contains(dims, static_cast<int>(d));
  }
  return false;
}

/// The region's reductions; empty if they are not all over the same leading dims.
std::vector<NodeId> reductions_of(const Region& region) {
  const std::vector<NodeId> heavy = heavy_nodes(region);
  const std::set<NodeId> all(heavy.begin(), heavy.end());
  if (heavy.empty() || heavy.size() > kMostReductions || !region.in_place.empty()) return {};
  const Node& first = region.node(heavy[0]);
  for (const NodeId id : heavy) {
    const Node& node = region.node(id);
    const auto kind = kind_of(node.op);
    const bool alike =
        kind && node.attrs.dims == first.attrs.dims &&
        same_shape(region.node(node.inputs[0]).shape, region.node(first.inputs[0]).shape);
    if (finds_place(node.op) && node.attrs.dims.size() != 1) return {};
    if (!alike || !last_is_kept(region.node(node.inputs[0]), node.attrs.dims)) return {};
    // The truth of fp64 products is computed one by one.
    if (*kind == Joining::Kind::Product && node.dtype == DType::Fp64) return {};
    if (depends_on(region, node.inputs[0], all)) return {};
  }
  return heavy;
}

/// The state carried from element to element: a reduction's total, or the best of an input and its
/// position. A max beside an arg_max is read from the latter too.
struct State {
  Joining joining;
  Joining::Kind kind;
  NodeId input = 0;
  std::string name;
};

class ColumnReduce : ScheduleFrame {
 public:
  ColumnReduce(const Region& region, const TargetContext& context, bool split)
      : ScheduleFrame(region, context),
        split_(split),
        nodes_(reductions_of(region)),
        loop_(region, region.node(region.node(nodes_[0]).inputs[0]).shape,
              region.node(nodes_[0]).attrs.dims, inputs(region, nodes_)),
        e_(region, 1),
        packs_(e_, loop_.inner(), loop_.axes()) {
    e_.ranges = loop_.ranges();
    e_.rename = loop_.rename(variable(kLane));
    // Searches first: reductions beside them share their state.
    for (const NodeId id : nodes_)
      if (finds_place(region.node(id).op)) add_state(id);
    for (const NodeId id : nodes_)
      if (!finds_place(region.node(id).op)) add_state(id);
  }

  /// Whether every store is the result of its row, in the order of rows.
  bool serves() {
    e_.open(loop_.outer_variables(), 0, 0);
    write_results();
    return in_order_;
  }

  Kernel emit() {
    write_values();
    const std::string body = write_body();
    for (const State& state : states_) {
      kernel_.device(state.joining.definitions(kernel_.functions(), Joining::Lanes::One) + "\n");
    }
    std::vector<DeviceFunction> functions = {
        kernel_.function(e_, summary(), region_.name, "typename Index, int kVec",
                         "32 * " + name("STACK"), body, partials())};
    kernel_.need({"load_pack"});
    if (split_) functions.push_back(ColumnReduce(region_, context_, true).write_finish(kernel_));
    add_plan(functions);
    return kernel_.finish();
  }

 private:
  static std::vector<NodeId> inputs(const Region& region, const std::vector<NodeId>& nodes) {
    std::vector<NodeId> in;
    for (const NodeId id : nodes) in.push_back(region.node(id).inputs[0]);
    return in;
  }
  std::string scratch(const State& state) const { return scratch_name(region_, state.name); }
  std::string places(const State& state) const {
    return scratch_name(region_, state.name + "_places");
  }

  void add_state(NodeId id) {
    const Node& node = region_.node(id);
    const Joining::Kind kind = *kind_of(node.op);
    const DType dtype = finds_place(node.op) ? region_.node(node.inputs[0]).dtype : node.dtype;
    const DType type = in_float(dtype) ? DType::Fp32 : dtype;
    for (size_t k = 0; k < states_.size(); ++k) {
      const State& state = states_[k];
      if (!state.joining.has_place() || state.input != node.inputs[0] || state.kind != kind)
        continue;
      state_of_[id] = k;
      return;
    }
    const size_t k = states_.size();
    const std::string prefix = k == 0 ? region_.name : fmt::format("{}_and{}", region_.name, k + 1);
    const char* wish = finds_place(node.op) ? "best" : "total";
    states_.push_back(
        {Joining(prefix, type, kind,
                 finds_place(node.op) ? Joining::Places::First : Joining::Places::None),
         kind, node.inputs[0], k == 0 ? wish : fmt::format("{}_{}", wish, k + 1)});
    state_of_[id] = k;
  }

  Parameters partials() const {
    Parameters more = {{"Index chunk", split_ ? name("CHUNK") : as_factor(loop_.columns())}};
    if (!split_) return more;
    add_partials(more, "");
    return more;
  }

  void add_partials(Parameters& more, const char* constness) const {
    for (const State& state : states_) {
      more.emplace_back(fmt::format("{}{}* {}_of_chunk", constness,
                                    register_type(state.joining.dtype()), state.name),
                        scratch(state));
      if (state.joining.has_place())
        more.emplace_back(fmt::format("{}long long* {}_places", constness, state.name),
                          places(state));
    }
  }

  // Scopes: 1 is the thread's results, 2 one step of the reduction, 3 one of the results.
  void write_values() {
    e_.open(loop_.outer_variables(), 0, 0);
    rows_ = e_.text(loop_.rows());
    columns_ = e_.text(loop_.columns());
    e_.on_load = [this](const Buffer& buffer, const Dim& address) {
      return packs_.value(buffer, address, loop_.rename(Dim(0)), lane_scope_);
    };
    const int step_scope = e_.open(loop_.column_variables(), 1, 4);
    open_lanes(step_scope);
    for (const State& state : states_) {
      const Value in = e_.value(state.input, loop_.index());
      const std::string to = register_type(state.joining.dtype());
      const std::string value = to == register_type(region_.node(state.input).dtype)
                                    ? in.expr.text
                                    : fmt::format("static_cast<{}>({})", to, in.expr.text);
      const std::string own = state.name + "[lane]";
      e_.at(lane_scope_).line("{} = {};", own, state.joining.step(own, value, "column"));
    }
    lane_text_ = e_.close();
    step_text_ = e_.close();
    if (!split_) write_results();
    row_text_ = e_.close();
  }

  void open_lanes(int inside) {
    std::vector<std::string> own = loop_.inner_variables();
    own.push_back(kLane);
    lane_scope_ = e_.open(own, inside);
  }

  void write_results() {
    open_lanes(1);
    const Index row = loop_.result_index();
    e_.on_load = nullptr;
    e_.on_node = [this, row](NodeId id, const Index& at) -> std::optional<Value> {
      const auto found = std::ranges::find(nodes_, id);
      if (found == nodes_.end()) return std::nullopt;
      for (size_t d = 0; d < at.size(); ++d) in_order_ = in_order_ && at[d].same_text(row[d]);
      const State& state = states_[state_of_.at(id)];
      const std::string own = state.name + "[lane]";
      if (!finds_place(region_.node(id).op)) return Value{{state.joining.value(own)}, lane_scope_};
      return Value{{fmt::format("static_cast<long long>({})", state.joining.place(own))},
                   lane_scope_};
    };
    const Shape shape = loop_.result_shape();
    in_order_ = store_results(e_, lane_scope_, shape, row) && in_order_;
    e_.on_node = nullptr;
    result_text_ = e_.close();
  }

  std::string write_body() {
    CudaWriter w(1);
    w.raw(e_.at(0).text());
    own_row().write(w, "(static_cast<Index>(blockIdx.x) * 32 + threadIdx.x) * kVec", rows_);
    w.line("const Index begin = blockIdx.y * chunk;");
    w.line("const Index end = {0} - begin < chunk ? {0} : begin + chunk;", columns_);
    loop_.write_row(e_, w);
    w.raw(row_text_);
    for (const State& state : states_) {
      w.line("{} {}[kVec];", state.joining.type(), state.name);
      const auto lanes = w.unrolled("for (int lane = 0; lane < kVec; ++lane)");
      w.line("{}[lane] = {};", state.name, state.joining.identity());
      // If no element is better than the identity, the first element is the best.
      if (state.joining.has_place())
        w.line("if (begin + threadIdx.y < end) {}[lane].place = begin + threadIdx.y;", state.name);
    }
    {
      const auto inside = w.block("if ({} < {})", own_row().name(), rows_);
      write_steps(w);
    }
    write_meeting(w);
    return w.text();
  }

  OwnRow own_row() const { return OwnRow(!row_text_.empty()); }

  void write_steps(CudaWriter& w) {
    const std::string each = fmt::format("for (int u = 0; u < {}; ++u)", name("UNROLL"));
    const std::string column = fmt::format("const Index column = start + u * {};", name("STACK"));
    const auto loop =
        w.block("for (Index start = begin + threadIdx.y; start < end; start += {} * {})",
                name("STACK"), name("UNROLL"));
    packs_.write_ahead(
        w, name("UNROLL"), [&] { w.line(column); }, "column < end",
        [&] { loop_.write_column(e_, w); });
    const auto steps = w.unrolled(each);
    w.line(column);
    const auto inside = w.block("if (column < end)");
    loop_.write_column(e_, w);
    w.raw(step_text_);
    const auto lanes = w.unrolled("for (int lane = 0; lane < kVec; ++lane)");
    w.raw(lane_text_);
  }

  void write_meeting(CudaWriter& w) {
    for (const State& state : states_) {
      w.line("__shared__ {} {}_of_stack[{}][32 * kVec];", state.joining.type(), state.name,
             name("STACK"));
      w.line("#pragma unroll");
      w.line(
          "for (int lane = 0; lane < kVec; ++lane) {0}_of_stack[threadIdx.y][threadIdx.x * kVec + "
          "lane] = {0}[lane];",
          state.name);
    }
    w.line("__syncthreads();");
    w.line("if (threadIdx.y != 0 || {} >= {}) return;", own_row().name(), rows_);
    {
      const auto stack = w.block("for (int y = 1; y < {}; ++y)", name("STACK"));
      const auto lanes = w.unrolled("for (int lane = 0; lane < kVec; ++lane)");
      for (const State& state : states_)
        w.line("{0}[lane] = {1};", state.name,
               state.joining.join(state.name + "[lane]",
                                  state.name + "_of_stack[y][threadIdx.x * kVec + lane]"));
    }
    const auto lanes = w.unrolled("for (int lane = 0; lane < kVec; ++lane)");
    if (!split_) {
      w.raw(result_text_);
      return;
    }
    for (const State& state : states_) {
      const std::string at = fmt::format("[blockIdx.y * {} + row + lane]", as_factor(loop_.rows()));
      const std::string own = state.name + "[lane]";
      w.line("{}_of_chunk{} = {};", state.name, at, state.joining.value(own));
      if (state.joining.has_place())
        w.line("{}_places{} = {};", state.name, at, state.joining.place(own));
    }
  }

  std::string summary() const {
    return fmt::format("{}: {} threads share kVec results{}.", kernel_.result(), name("STACK"),
                       split_ ? " of a chunk" : "");
  }

  void add_plan(const std::vector<DeviceFunction>& functions) {
    using Values = std::vector<int64_t>;
    const int64_t vec = packs_.width();
    if (vec > 1) kernel_.vectors(vec > 4 ? Values{vec, vec / 2, 1} : Values{vec, 1});
    kernel_.tune("STACK", {8, 16, 4});
    kernel_.unroll({4, 2, 1});
    kernel_.methods({"memory.coalesced_access", "compute.reduction"});
    if (split_) add_chunks(vec > 1 ? name("VEC") : "1");
    const std::string rows = loop_.rows().text();
    const auto launches = [&](const Instance& instance) {
      const std::string grid = fmt::format("ceil_div({}, 32 * {})", rows, instance.vec);
      std::vector<Launch> all = {functions[0].launch(
          instance.types(), split_ ? grid + ", " + name("CHUNKS") : grid, "32, " + name("STACK"))};
      if (split_) {
        all.push_back(
            functions[1].launch(instance.index, fmt::format("ceil_div({}, 128)", rows), "128"));
      }
      return all;
    };
    kernel_.each_variant(vec > 1, packs_, as_factor(loop_.inner_extent()), launches);
  }

  void add_chunks(const std::string& vec) {
    const std::string n = as_factor(loop_.columns()), rows = as_factor(loop_.rows());
    kernel_.method("memory.split_k_parallel_reduce");
    kernel_.let("TILES", fmt::format("max(1, ceil_div({}, 32 * {}))", rows, vec));
    kernel_.let("WISH", fmt::format("max(1, min(ceil_div({}, {} * {}), ceil_div(SMS * 4, {})))", n,
                                    name("STACK"), name("UNROLL"), name("TILES")));
    kernel_.let("CHUNK", fmt::format("max(1, ceil_div({}, {}))", n, name("WISH")));
    kernel_.let("CHUNKS", fmt::format("ceil_div({}, {})", n, name("CHUNK")));
    const std::string extent = fmt::format("{} * {}", rows, name("CHUNKS"));
    for (const State& state : states_) {
      kernel_.scratch(scratch(state), state.joining.dtype(), extent);
      if (state.joining.has_place()) kernel_.scratch(places(state), DType::Int64, extent);
    }
  }

  /// The second launch: a thread combines the results of all chunks for its result.
  DeviceFunction write_finish(KernelBuilder& kernel) {
    e_.open(loop_.outer_variables(), 0, 0);
    rows_ = e_.text(loop_.rows());
    write_results();
    row_text_ = e_.close();
    CudaWriter w(1);
    w.raw(e_.at(0).text());
    w.line("const Index row = static_cast<Index>(blockIdx.x) * 128 + threadIdx.x;");
    w.line("if (row >= {}) return;", rows_);
    loop_.write_row(e_, w);
    w.raw(row_text_);
    w.line("constexpr int lane = 0;");
    for (const State& state : states_)
      w.line("{} {}[1] = {{{}}};", state.joining.type(), state.name, state.joining.identity());
    {
      const auto loop = w.block("for (Index c = 0; c < chunks; ++c)");
      const std::string at = fmt::format("[c * {} + row]", as_factor(loop_.rows()));
      for (const State& state : states_)
        w.line("{0}[0] = {1};", state.name,
               state.joining.join(state.name + "[0]",
                                  state.joining.of(state.name + "_of_chunk" + at,
                                                   fmt::format("static_cast<Index>({}_places{})",
                                                               state.name, at))));
    }
    w.raw(result_text_);
    Parameters more = {{"Index chunks", name("CHUNKS")}};
    add_partials(more, "const ");
    return kernel.function(e_, kernel.result() + ": the chunks' results joined.",
                           region_.name + "_finish", "typename Index", "128", w.text(), more);
  }

  bool split_;
  std::vector<NodeId> nodes_;
  ReducedLoop loop_;
  Emitter e_;
  Packs packs_;
  std::vector<State> states_;
  std::map<NodeId, size_t> state_of_;
  int lane_scope_ = 0;
  bool in_order_ = true;
  std::string rows_, columns_, lane_text_, step_text_, row_text_, result_text_;
};

bool column_whole_applies(const Region& region, const TargetContext& context) {
  return !reductions_of(region).empty() && ColumnReduce(region, context, false).serves();
}

bool column_split_applies(const Region& region, const TargetContext& context) {
  if (!column_whole_applies(region, context)) return false;
  const int64_t results = graph::count_of(region.node(reductions_of(region)[0]).shape).value();
  return results < 32 * 4 * 4 * int64_t{context.target.default_sms};
}

}  // namespace

Schedules column_schedules() {
  return {{"column_split", "chunks of the reduced dims, joined by a second launch",
           column_split_applies, emit_by<ColumnReduce, true>, column_split_applies},
          {"column_whole", "neighbouring threads reduce neighbouring columns", column_whole_applies,
           emit_by<ColumnReduce, false>, column_whole_applies}};
}

}  // namespace kw::generate
