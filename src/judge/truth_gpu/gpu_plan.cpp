// Problem: every element of a truth needs its value, errors and jumps by the interpreter's rules.
// Choice: the interpreter's own plan becomes one kernel per whole node. Reductions of few results
// are split and merged by a second kernel. Graphs that sum half rounding errors get a second pass.
// Alternative: one kernel that interprets programs on the device; it is slower per element.
// Cost: one compile per graph and shape. Ops without device code are left to the interpreter.
#include "truth_gpu/gpu_plan.h"

#include <fmt/core.h>

#include <algorithm>

#include "ports/bound.h"
#include "truth/evaluation_plan.h"
#include "truth/output.h"
#include "truth/reduce.h"
#include "truth/scalar.h"
#include "truth_gpu/gpu_loops.h"

namespace kw::truth_gpu {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::Op;
using graph::OpKind;
using tensor::DType;

namespace {

constexpr int kBlockThreads = kGpuBlockThreads;
constexpr int64_t kMostBlocks = 4096;        // of pointwise kernels; each thread then loops
constexpr int64_t kWantedThreads = 1 << 18;  // enough to fill a device
constexpr int64_t kLeastPerThread = 16;      // elements of a reduction
constexpr int64_t kMostRivals = 64;          // longest line for ArgMax and ArgMin

class GpuPlanner {
 public:
  GpuPlanner(const Graph& graph, const ports::TruthOptions& options)
      : graph_(graph),
        options_(options),
        inputs_(graph.inputs.size()),
        values_(graph.nodes.size()),
        findings_(graph.nodes.size()) {}

  Result<GpuPlan> run() {
    KW_TRY(check());
    const std::vector<truth::NodeFacts> facts =
        truth::gather_facts(graph_, truth::Mode::Truth, options_.allow_tf32);
    KW_TRY(check_precision(facts));
    add_inputs(facts);
    plan_.found = add_buffer("found", kernel::Role::Inout, DType::Uint32, 1);
    widens_ = truth::needs_half_pass(graph_, facts);
    KW_TRY(add_pass(truth::Mode::Truth, facts));
    for (const graph::NamedNode& output : graph_.outputs) {
      plan_.outputs.push_back(truth_[static_cast<size_t>(output.node)]);
      plan_.facts.push_back(facts[static_cast<size_t>(output.node)]);
    }
    if (widens_)
      KW_TRY(add_pass(truth::Mode::HalfOnly,
                      truth::gather_facts(graph_, truth::Mode::HalfOnly, false)));
    plan_.source = "namespace truth {\n\n" + rules_text() + kernels_ + "\n}  // namespace truth\n";
    plan_.program.module_name = "truth.cu";
    return std::move(plan_);
  }

 private:
  Status check() const {
    for (const truth::ScoreSource& score : truth::score_sources(graph_)) {
      if (score.node >= 0) return input_error("no device code for scores");
    }
    for (const graph::NamedNode& output : graph_.outputs) {
      if (graph_[output.node].op == Op::Input)
        return input_error("no device code for an output that is an input");
    }
    return Done{};
  }

  // fp64 results depend on the last bits, and the device's functions may round differently. Only
  // the interpreter computes these.
  Status check_precision(const std::vector<truth::NodeFacts>& facts) const {
    for (size_t id = 0; id < graph_.nodes.size(); ++id) {
      const Node& node = graph_.nodes[id];
      if (facts[id].needed && node.dtype == DType::Fp64 &&
          facts[id].exactness != truth::Exactness::Exact)
        return input_error("no device code for fp64 results");
    }
    return Done{};
  }

  int add_buffer(const std::string& name, kernel::Role role, DType dtype, int64_t count) {
    kernel::Buffer buffer;
    buffer.name = name;
    buffer.role = role;
    buffer.dtype = dtype;
    buffer.shape = {count};
    buffer.bytes = count * tensor::dtype_size(dtype);
    plan_.bytes += static_cast<uint64_t>(buffer.bytes);
    plan_.program.buffers.push_back(std::move(buffer));
    return static_cast<int>(plan_.program.buffers.size()) - 1;
  }

  void add_inputs(const std::vector<truth::NodeFacts>& facts) {
    sources_.first_input = inputs_.data();
    sources_.first_value = values_.data();
    for (const graph::NamedNode& input : graph_.inputs) {
      const Node& node = graph_[input.node];
      const int buffer = add_buffer(input.name, kernel::Role::Input, node.dtype, 0);
      kernel::Buffer& made = plan_.program.buffers.back();
      made.shape = graph::values_of(node.shape);
      made.bytes = truth::count_of(made.shape) * tensor::dtype_size(node.dtype);
      made.present = facts[static_cast<size_t>(input.node)].needed;
      if (made.present) plan_.bytes += static_cast<uint64_t>(made.bytes);
      sources_.inputs.push_back(buffer);
    }
  }

  bool is_output(NodeId node) const {
    return std::ranges::any_of(graph_.outputs,
                               [&](const graph::NamedNode& o) { return o.node == node; });
  }

  // The second pass widens this output, so it needs a buffer for h even if the first pass sets
  // none.
  bool is_widened(NodeId node, const truth::NodeFacts& facts) const {
    return widens_ && is_output(node) && !facts.tracks.integer &&
           facts.exactness == truth::Exactness::Open;
  }

  void add_node_buffers(NodeId node, truth::Mode mode, const truth::NodeFacts& facts) {
    const bool given = mode == truth::Mode::Truth && is_output(node);
    const auto role = given ? kernel::Role::Output : kernel::Role::Scratch;
    const std::string name = fmt::format("{}{}", mode == truth::Mode::Truth ? "n" : "half", node);
    const int64_t count = truth::count_of(facts.shape);
    NodeBuffers& at = sources_.values[static_cast<size_t>(node)];
    at.t = add_buffer(name, role, facts.tracks.integer ? DType::Int64 : DType::Fp64, count);
    if (mode != truth::Mode::Truth) return;
    if (facts.tracks.a) at.a = add_buffer(name + "_a", role, DType::Fp32, count);
    if (facts.tracks.h || is_widened(node, facts))
      at.h = add_buffer(name + "_h", role, DType::Fp32, count);
  }

  Status add_pass(truth::Mode mode, const std::vector<truth::NodeFacts>& facts) {
    const truth::Plan plan = truth::make_plan(graph_, facts, truth::Factors::Whole);
    const truth::Sources s{graph_, facts, plan, inputs_, values_, mode, options_.flush, findings_};
    sources_.values.assign(graph_.nodes.size(), {});
    for (size_t id = 0; id < graph_.nodes.size(); ++id) {
      const auto node = static_cast<NodeId>(id);
      if (!facts[id].needed || !plan.whole[id]) continue;
      if (truth::count_of(facts[id].shape) == 0)
        return input_error("no device code for empty tensors");
      add_node_buffers(node, mode, facts[id]);
      KW_TRY(add_node(s, node));
    }
    if (mode == truth::Mode::Truth) truth_ = sources_.values;
    return Done{};
  }

  Status add_node(const truth::Sources& s, NodeId node) {
    const Node& n = graph_[node];
    if (n.op == Op::Sum || n.op == Op::Max || n.op == Op::Min) return add_reduction(s, node);
    if (n.op == Op::CumSum) return add_scan(s, node);
    if (n.op == Op::Pad) return add_pad(s, node);
    if (n.op == Op::Fold) return add_fold(s, node);
    if (n.op == Op::MatMul) return add_product(s, node);
    if (n.op == Op::ArgMax || n.op == Op::ArgMin) return add_best(s, node);
    if (n.op == Op::Gather || n.op == Op::IndexSelect) return add_pick(s, node);
    const OpKind kind = graph::op_info(n.op).kind;
    const bool copies = n.op == Op::Constant || n.op == Op::Iota || kind == OpKind::Pointwise ||
                        truth::is_view_op(n.op);
    if (!copies) return input_error(std::string("no device code for ") + graph::op_info(n.op).name);
    return add_point(s, node);
  }

  std::string kernel_name(const truth::Sources& s, NodeId node, const char* what) const {
    return fmt::format("{}{}_{}", s.mode == truth::Mode::Truth ? "" : "half_", what, node);
  }

  // Adds the jump buffers, so that later kernels know that the node may jump.
  void write_jump(NodeId node, const std::string& jump, const std::string& at, KernelText* kernel) {
    NodeBuffers& to = sources_.values[static_cast<size_t>(node)];
    const kernel::Buffer& beside = plan_.program.buffers[static_cast<size_t>(to.t)];
    const std::string name = beside.name;
    const kernel::Role role = beside.role;
    const int64_t count = beside.shape[0];
    to.lo = add_buffer(name + "_lo", role, DType::Fp32, count);
    to.hi = add_buffer(name + "_hi", role, DType::Fp32, count);
    kernel->line(
        fmt::format("{}[{}] = stored_bound({}.lo);", kernel->param(to.lo, "float*"), at, jump));
    kernel->line(
        fmt::format("{}[{}] = stored_bound({}.hi);", kernel->param(to.hi, "float*"), at, jump));
  }

  // Writes element `at` of a node: value, errors and jump. The second pass also widens h of an
  // output.
  void write_result(const truth::Sources& s, NodeId node, const ElementName& result,
                    const std::string& at, KernelText* kernel) {
    if (!result.jump.empty()) write_jump(node, result.jump, at, kernel);
    const truth::NodeFacts& facts = s.facts[static_cast<size_t>(node)];
    const NodeBuffers& to = sources_.values[static_cast<size_t>(node)];
    const std::string& y = result.value;
    if (facts.tracks.integer) {
      kernel->line(fmt::format("{}[{}] = {};", kernel->param(to.t, "long long*"), at, y));
      return;
    }
    kernel->line(fmt::format("{}[{}] = {}.t;", kernel->param(to.t, "double*"), at, y));
    if (to.a >= 0)
      kernel->line(
          fmt::format("{}[{}] = stored_bound({}.a);", kernel->param(to.a, "float*"), at, y));
    if (to.h >= 0)
      kernel->line(
          fmt::format("{}[{}] = stored_bound({}.h);", kernel->param(to.h, "float*"), at, y));
    if (s.mode != truth::Mode::HalfOnly || !is_widened(node, facts)) return;
    const NodeBuffers& first = truth_[static_cast<size_t>(node)];
    const std::string t = kernel->param(first.t, "const double*");
    const std::string h = kernel->param(first.h, "float*");
    // Doubled: a kernel that rounds as declared has this error everywhere, and the rms of its z
    // must stay below one half.
    kernel->line(
        fmt::format("const float moved = stored_bound(2 * fabs({}.t - {}[{}]));", y, t, at));
    kernel->line(fmt::format(
        "if (fabs({0}[{2}]) <= kLargest && moved > {1}[{2}]) {1}[{2}] = moved;", t, h, at));
  }

  void add_launch(const std::string& name, const KernelText& kernel, const std::string& body,
                  kernel::Dim3 grid) {
    kernels_ += fmt::format("\n__global__ void __launch_bounds__({}) {}({}) {{\n{}}}\n",
                            kBlockThreads, name, kernel.parameters(), body);
    kernel::Launch launch;
    launch.kernel = "truth::" + name;
    launch.grid = grid;
    launch.block = {kBlockThreads, 1, 1};
    for (const int buffer : kernel.buffers()) {
      kernel::Param param;
      param.buffer = buffer;
      param.name = plan_.program.buffers[static_cast<size_t>(buffer)].name;
      launch.params.push_back(std::move(param));
    }
    plan_.program.launches.push_back(std::move(launch));
    plan_.kernels.push_back("truth::" + name);
  }

  std::string report_text(KernelText* kernel) const {
    return fmt::format("  if (found != 0) atomicOr({}, found);\n",
                       kernel->param(plan_.found, "unsigned*"));
  }

  Status add_point(const truth::Sources& s, NodeId node) {
    const truth::TruthProgram program = truth::make_program(s, node, {}, true);
    KernelText kernel;
    const ElementName y = KW_TRY(write_element(program, sources_, &kernel));
    write_result(s, node, y, "p", &kernel);
    const int64_t blocks = (program.count + kBlockThreads - 1) / kBlockThreads;
    const std::string body = fmt::format(
        "  unsigned found = 0;\n"
        "  for (Int p = (Int)blockIdx.x * {0} + threadIdx.x; p < {1}; p += (Int)gridDim.x * {0}) "
        "{{\n{2}  }}\n{3}",
        kBlockThreads, program.count, kernel.lines(), report_text(&kernel));
    add_launch(kernel_name(s, node, "point"), kernel, body,
               {static_cast<uint32_t>(std::min(blocks, kMostBlocks)), 1, 1});
    return Done{};
  }

  Result<ElementText> element_of(const truth::Sources& s, NodeId node,
                                 const std::vector<int>& order, KernelText* kernel) const {
    const truth::TruthProgram program = truth::make_program(s, node, order, false);
    if (program.count == 0) return input_error("no device code for empty tensors");
    const size_t before = kernel->lines().size();
    ElementText element;
    element.name = KW_TRY(write_element(program, sources_, kernel));
    element.lines = kernel->lines().substr(before);
    element.integer = program.tracks.integer;
    return element;
  }

  void add_walk(const std::string& name, int64_t count, const std::string& before,
                const std::string& loop, KernelText* kernel) {
    const int64_t blocks = (count + kBlockThreads - 1) / kBlockThreads;
    const std::string body = "  unsigned found = 0;\n" + before + loop + report_text(kernel);
    add_launch(name, *kernel, body, {static_cast<uint32_t>(std::min(blocks, kMostBlocks)), 1, 1});
  }

  Status add_pad(const truth::Sources& s, NodeId node) {
    const Node& n = graph_[node];
    KernelText kernel;
    const ElementText x = KW_TRY(element_of(s, n.inputs[0], {}, &kernel));
    const bool wide = n.dtype == DType::Fp64;
    const std::string fill =
        x.integer ? fmt::format("(Int){}LL", truth::to_integer(n.attrs.number, n.dtype))
                  : fmt::format("{{{}, 0.0, 0.0}}",
                                number_text(wide ? n.attrs.number
                                                 : truth::rounded(n.dtype, n.attrs.number)));
    const std::string ending = written(s, node, {"y", x.jumps() ? "j" : ""}, &kernel);
    add_walk(kernel_name(s, node, "pad"), truth::count_of(s.facts[static_cast<size_t>(node)].shape),
             "", pad_loop(n, s.facts[static_cast<size_t>(n.inputs[0])].shape, x, fill, ending),
             &kernel);
    return Done{};
  }

  Status add_pick(const truth::Sources& s, NodeId node) {
    const Node& n = graph_[node];
    const auto dim = static_cast<size_t>(n.attrs.dims[0]);
    const truth::Extents& from = s.facts[static_cast<size_t>(n.inputs[0])].shape;
    const truth::Extents& out = s.facts[static_cast<size_t>(node)].shape;
    KernelText kernel;
    const ElementText x = KW_TRY(element_of(s, n.inputs[0], {}, &kernel));
    const ElementText index = KW_TRY(element_of(s, n.inputs[1], {}, &kernel));
    truth::View base = truth::dense_view(from), along{out, truth::Extents(out.size(), 0), 0};
    base.shape = out;
    base.strides[dim] = 0;
    along.strides[dim] = 1;
    const bool selects = n.op == Op::IndexSelect;
    const Picked picked{selects ? address_text(truth::coalesced(along)) : "p",
                        address_text(truth::coalesced(base)), from[dim],
                        truth::dense_view(from).strides[dim]};
    const std::string ending = written(s, node, {"y", x.jumps() ? "j" : ""}, &kernel);
    add_walk(kernel_name(s, node, "pick"), truth::count_of(out), "",
             pick_loop(truth::count_of(out), picked, index, x, ending), &kernel);
    return Done{};
  }

  Status add_fold(const truth::Sources& s, NodeId node) {
    const Node& n = graph_[node];
    const truth::FoldLayout layout =
        truth::fold_layout(n, s.facts[static_cast<size_t>(n.inputs[0])].shape);
    KernelText kernel;
    const ElementText x = KW_TRY(element_of(s, n.inputs[0], layout.order, &kernel));
    if (x.integer) return input_error("no device code for reductions of integers");
    const truth::TruthProgram program = truth::make_program(s, n.inputs[0], layout.order, false);
    const std::string ending = ending_text(s, node, {"own", "here", x.jumps()}, &kernel);
    add_walk(kernel_name(s, node, "overlap"),
             truth::count_of(s.facts[static_cast<size_t>(node)].shape),
             fold_text(s, node, program, 1), fold_loop(n, layout, x, ending), &kernel);
    return Done{};
  }

  std::string product_text(const truth::Sources& s, NodeId node) const {
    const Node& n = graph_[node];
    const bool errors = std::ranges::any_of(n.inputs, [&](NodeId in) {
      const truth::Tracks& tracks = s.facts[static_cast<size_t>(in)].tracks;
      return tracks.a || tracks.h;
    });
    return fmt::format(
        "  const ProductSpec product = {{{}, {}, {}, {}, {}, {}}};\n", s.mode == truth::Mode::Truth,
        errors, options_.allow_tf32 && n.dtype == DType::Fp32, options_.flush,
        format_text(s.mode, n.dtype), rounding_text(truth::rounding_of(n.dtype, options_.flush)));
  }

  Status add_product(const truth::Sources& s, NodeId node) {
    const Node& n = graph_[node];
    const truth::Extents& left = s.facts[static_cast<size_t>(n.inputs[0])].shape;
    const truth::Extents& out = s.facts[static_cast<size_t>(node)].shape;
    ProductExtents extents{truth::count_of(out), left[left.size() - 2], left.back(), out.back()};
    extents.batches /= extents.rows * extents.columns;
    KernelText kernel;
    const ElementText x = KW_TRY(element_of(s, n.inputs[0], {}, &kernel));
    const ElementText z = KW_TRY(element_of(s, n.inputs[1], {}, &kernel));
    if (x.integer) return input_error("no device code for products of integers");
    const std::string ending =
        ending_text(s, node, {"own", "product", x.jumps() || z.jumps()}, &kernel);
    add_walk(kernel_name(s, node, "product"), truth::count_of(out), product_text(s, node),
             product_loop(extents, x, z, ending), &kernel);
    return Done{};
  }

  // Returns the lines that store a result at `which`.
  std::string written(const truth::Sources& s, NodeId node, const ElementName& y,
                      KernelText* kernel) {
    const size_t before = kernel->lines().size();
    write_result(s, node, y, "which", kernel);
    return kernel->lines().substr(before);
  }

  std::string fold_text(const truth::Sources& s, NodeId node, const truth::TruthProgram& program,
                        double count) const {
    const Node& n = graph_[node];
    const truth::NodeFacts& facts = s.facts[static_cast<size_t>(node)];
    return fmt::format("  const FoldSpec fold = {{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}}};\n",
                       s.mode == truth::Mode::Truth, program.tracks.a, program.tracks.h,
                       facts.tracks.a, facts.tracks.h, n.op == Op::Min ? -1 : 1, number_text(count),
                       number_text(ports::chain_units(count)), format_text(s.mode, n.dtype),
                       rounding_text(truth::rounding_of(n.dtype, options_.flush)));
  }

  // How threads share the elements of one result: `lanes` neighbouring threads in each of `parts`
  // blocks.
  struct Sharing {
    int64_t results = 1, lanes = 1, parts = 1;
  };
  static Sharing share(const truth::ReduceLayout& layout) {
    Sharing sharing;
    sharing.results = layout.outer * layout.inner;
    while (layout.inner == 1 && sharing.lanes < kBlockThreads && sharing.lanes * 4 < layout.reduced)
      sharing.lanes *= 2;
    const int64_t wanted = kWantedThreads / (sharing.results * sharing.lanes);
    const int64_t most = layout.reduced / (sharing.lanes * kLeastPerThread);
    sharing.parts = std::clamp<int64_t>(std::min(wanted, most), 1, 1024);
    return sharing;
  }

  Status add_reduction(const truth::Sources& s, NodeId node) {
    const Node& n = graph_[node];
    const truth::Extents& shape = s.facts[static_cast<size_t>(n.inputs[0])].shape;
    const truth::ReduceLayout layout = truth::reduce_layout(n, shape);
    const truth::TruthProgram program = truth::make_program(s, n.inputs[0], layout.order, false);
    if (program.tracks.integer) return input_error("no device code for reductions of integers");
    if (layout.reduced == 0) return input_error("no device code for empty tensors");
    const Sharing sharing = share(layout);
    const double terms = layout.reduced > 1 ? s.facts[static_cast<size_t>(node)].terms : 1;
    const std::string fold = fold_text(s, node, program, terms);
    KernelText element;
    const ElementText x = KW_TRY(element_of(s, n.inputs[0], layout.order, &element));
    const std::string state =
        std::string(x.jumps() ? "Jumping" : "") + (n.op == Op::Sum ? "Sum" : "Choice");
    const std::string partial_type = state + "*";
    int partial = -1;
    if (sharing.parts > 1) {
      const int64_t words = (n.op == Op::Sum ? 4 : 5) + (x.jumps() ? (n.op == Op::Sum ? 2 : 3) : 0);
      partial = add_buffer(kernel_name(s, node, "parts"), kernel::Role::Scratch, DType::Fp64,
                           sharing.results * sharing.parts * words);
    }
    std::string ending;
    if (partial >= 0) {
      ending = fmt::format("    {}[(Int)blockIdx.y * {} + which] = states[threadIdx.x];\n",
                           element.param(partial, partial_type), sharing.results);
    } else {
      ending = ending_text(s, node, {"states[threadIdx.x]", "fold", x.jumps()}, &element);
    }
    const int64_t per_block = kBlockThreads / sharing.lanes;
    const std::string body = fmt::format(
        "  unsigned found = 0;\n{fold}"
        "  __shared__ {state} states[{threads}];\n"
        "  const int lane = threadIdx.x % {lanes};\n"
        "  const Int which = (Int)blockIdx.x * {per_block} + threadIdx.x / {lanes};\n"
        "  const Int first = {n}LL * blockIdx.y / {parts}, last = {n}LL * (blockIdx.y + 1) / "
        "{parts};\n"
        "  {state} own;\n  own.start(fold);\n"
        "  for (Int r = first + lane; which < {results} && r < last; r += {lanes}) {{\n"
        "    const Int p = (which / {inner} * {n} + r) * {inner} + which % {inner};\n"
        "{lines}    own.add({x}, fold);\n  }}\n"
        "  gather<{threads}, {lanes}>(states, own, fold);\n"
        "  if (lane == 0 && which < {results}) {{\n{ending}  }}\n{report}",
        fmt::arg("fold", fold), fmt::arg("state", state), fmt::arg("threads", kBlockThreads),
        fmt::arg("lanes", sharing.lanes), fmt::arg("per_block", per_block),
        fmt::arg("n", layout.reduced), fmt::arg("parts", sharing.parts),
        fmt::arg("results", sharing.results), fmt::arg("inner", layout.inner),
        fmt::arg("lines", x.lines), fmt::arg("x", x.given()), fmt::arg("ending", ending),
        fmt::arg("report", report_text(&element)));
    const int64_t blocks = (sharing.results + per_block - 1) / per_block;
    add_launch(kernel_name(s, node, "fold"), element, body,
               {static_cast<uint32_t>(blocks), static_cast<uint32_t>(sharing.parts), 1});
    if (partial >= 0) add_merge(s, node, fold, {state, "fold", x.jumps()}, partial, sharing);
    return Done{};
  }

  // A complete sum, choice or product: its name (its type when it is read from memory), and the
  // name of its spec.
  struct Gathered {
    std::string name, spec;
    bool jumps = false;
  };
  std::string ending_text(const truth::Sources& s, NodeId node, const Gathered& all,
                          KernelText* kernel) {
    const size_t before = kernel->lines().size();
    kernel->line(fmt::format("const TrackedValue y = {}.result({});", all.name, all.spec));
    if (all.jumps) kernel->line(fmt::format("const Jump j = {}.jump({});", all.name, all.spec));
    if (s.mode == truth::Mode::Truth) kernel->line("look_for_infinity(y, found);");
    write_result(s, node, {"y", all.jumps ? "j" : ""}, "which", kernel);
    return kernel->lines().substr(before);
  }

  Status add_best(const truth::Sources& s, NodeId node) {
    const Node& n = graph_[node];
    const truth::Extents& shape = s.facts[static_cast<size_t>(n.inputs[0])].shape;
    const std::vector<int> order = lines_along(n.attrs.dims[0], shape.size());
    const int64_t length = shape[static_cast<size_t>(n.attrs.dims[0])];
    if (length > kMostRivals) return input_error("no device code for the best of long lines");
    KernelText kernel;
    const ElementText x = KW_TRY(element_of(s, n.inputs[0], order, &kernel));
    if (x.integer) return input_error("no device code for the best of integers");
    const truth::Tracks tracks = truth::make_program(s, n.inputs[0], order, false).tracks;
    const truth::Extents& out = s.facts[static_cast<size_t>(node)].shape;
    const size_t before = kernel.lines().size();
    kernel.line("const Int p = line;");
    kernel.line(fmt::format("const Int which = {};", address_text(truth::coalesced(truth::permuted(
                                                         truth::dense_view(out), order)))));
    const bool jumps = x.jumps() || tracks.a || tracks.h;
    write_result(s, node, {"best.index", jumps ? "best.jump" : ""}, "which", &kernel);
    add_walk(kernel_name(s, node, "best"), truth::count_of(out), "",
             best_loop(truth::count_of(out), length, n.op == Op::ArgMax, x,
                       kernel.lines().substr(before)),
             &kernel);
    return Done{};
  }

  static std::vector<int> lines_along(int dim, size_t rank) {
    std::vector<int> order;
    for (int d = 0; d < static_cast<int>(rank); ++d) {
      if (d != dim) order.push_back(d);
    }
    order.push_back(dim);
    return order;
  }

  // One block processes a line tile by tile and carries the sum of the previous tiles.
  Status add_scan(const truth::Sources& s, NodeId node) {
    const Node& n = graph_[node];
    const truth::Extents& shape = s.facts[static_cast<size_t>(node)].shape;
    const std::vector<int> order = lines_along(n.attrs.dims[0], shape.size());
    const truth::TruthProgram program = truth::make_program(s, n.inputs[0], order, false);
    if (program.tracks.integer) return input_error("no device code for scans of integers");
    const int64_t length = shape[static_cast<size_t>(n.attrs.dims[0])];
    const int64_t lines = program.count / length;
    KernelText kernel;
    const ElementName x = KW_TRY(write_element(program, sources_, &kernel));
    // Jumps are not carried along a line; the interpreter computes these.
    if (!x.jump.empty()) kernel.line(fmt::format("if (jumps({})) found |= kJumps;", x.jump));
    const std::string element = kernel.lines();
    const truth::View place = truth::coalesced(truth::permuted(truth::dense_view(shape), order));
    const size_t before = element.size();
    kernel.line("const TrackedValue y = scanned(all, total, (double)count, fold);");
    if (s.mode == truth::Mode::Truth) kernel.line("look_for_infinity(y, found);");
    kernel.line(fmt::format("const Int which = {};", address_text(place)));
    write_result(s, node, {"y", ""}, "which", &kernel);
    const std::string body = fmt::format(
        "  unsigned found = 0;\n{fold}"
        "  __shared__ Sum sums[{threads}];\n  __shared__ double passes[{threads}];\n"
        "  const auto join = [&](Sum& to, const Sum& later) {{ to.merge(later, fold); }};\n"
        "  const auto plus = [](double& to, const double& later) {{ to += later; }};\n"
        "  for (Int line = blockIdx.x; line < {lines}; line += gridDim.x) {{\n"
        "  Sum carry;\n  carry.start(fold);\n  double passed = 0;\n"
        "  for (Int first = 0; first < {n}; first += {threads}) {{\n"
        "    const Int step = first + threadIdx.x;\n"
        "    const Int p = line * {n} + {position};\n"
        "    Sum own;\n    own.start(fold);\n"
        "    if (step < {n}) {{\n{element}    own.add({x}, fold);\n    }}\n"
        "    scan_block<{threads}>(sums, own, join);\n"
        "    Sum through = carry;\n    through.merge(sums[threadIdx.x], fold);\n"
        "    scan_block<{threads}>(passes, step < {n} ? fabs(through.t) : 0.0, plus);\n"
        "    const int last = (int)threadIdx.x - {exclusive};\n"
        "    const Int count = step + 1 - {exclusive};\n"
        "    Sum all = carry;\n    double total = passed;\n"
        "    if (last >= 0) {{\n      all.merge(sums[last], fold);\n      total += passes[last];\n "
        "   }}\n"
        "    if (step < {n}) {{\n{ending}    }}\n"
        "    carry.merge(sums[{threads} - 1], fold);\n    passed += passes[{threads} - 1];\n"
        "  }}\n  }}\n{report}",
        fmt::arg("fold", fold_text(s, node, program, 1)), fmt::arg("threads", kBlockThreads),
        fmt::arg("lines", lines), fmt::arg("n", length),
        fmt::arg("position", n.attrs.reverse ? fmt::format("{} - step", length - 1) : "step"),
        fmt::arg("element", element), fmt::arg("x", x.value),
        fmt::arg("exclusive", n.attrs.exclusive ? 1 : 0),
        fmt::arg("ending", kernel.lines().substr(before)),
        fmt::arg("report", report_text(&kernel)));
    add_launch(kernel_name(s, node, "scan"), kernel, body,
               {static_cast<uint32_t>(std::min(lines, kMostBlocks)), 1, 1});
    return Done{};
  }

  void add_merge(const truth::Sources& s, NodeId node, const std::string& fold,
                 const Gathered& state, int partial, const Sharing& sharing) {
    KernelText kernel;
    const std::string parts = kernel.param(partial, fmt::format("const {}*", state.name));
    const std::string ending = ending_text(s, node, {"all", state.spec, state.jumps}, &kernel);
    const std::string body = fmt::format(
        "  unsigned found = 0;\n{}"
        "  const Int which = (Int)blockIdx.x * {} + threadIdx.x;\n"
        "  if (which < {}) {{\n"
        "    {} all = {}[which];\n"
        "    for (int part = 1; part < {}; ++part) all.merge({}[(Int)part * {} + which], fold);\n"
        "{}  }}\n{}",
        fold, kBlockThreads, sharing.results, state.name, parts, sharing.parts, parts,
        sharing.results, ending, report_text(&kernel));
    const int64_t blocks = (sharing.results + kBlockThreads - 1) / kBlockThreads;
    add_launch(kernel_name(s, node, "merge"), kernel, body, {static_cast<uint32_t>(blocks), 1, 1});
  }

  const Graph& graph_;
  const ports::TruthOptions& options_;
  std::vector<tensor::HostTensor> inputs_;  // placeholders: programs only point at them
  std::vector<truth::Tensor> values_;       // placeholders too
  truth::Findings findings_;
  GpuSources sources_;
  std::vector<NodeBuffers> truth_;  // buffers of the first pass
  bool widens_ = false;             // whether there is a second pass
  std::string kernels_;
  GpuPlan plan_;
};

}  // namespace

Result<GpuPlan> plan_on_gpu(const Graph& graph, const ports::TruthOptions& options) {
  return GpuPlanner(graph, options).run();
}

}  // namespace kw::truth_gpu
