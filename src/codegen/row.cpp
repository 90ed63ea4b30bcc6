// Schedules of row programs: a block, or a few lanes, per row. The row is read once into registers
// where it fits, and read again in every pass where it does not.
#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "codegen/packs.h"
#include "codegen/row_plan.h"
#include "codegen/schedules.h"
#include "codegen/types.h"

namespace kw::codegen {

using graph::Node;
using graph::NodeId;
using graph::Op;

namespace {

enum class Team : uint8_t { Block, Lanes };  // who shares a row

/// What the passes over a row have in common, found in a first run.
struct Habits {
  std::map<std::string, std::set<size_t>> packs;  // address of a pack -> passes that use it
  std::map<NodeId, std::set<size_t>> costly;      // node -> passes that compute it per element
};

/// Writes one __global__ function.
class RowKernel {
 public:
  RowKernel(const Region& region, const RowPlan& plan, Team team, bool registers,
            const Habits* habits)
      : region_(region),
        plan_(plan),
        team_(team),
        registers_(registers),
        habits_(habits),
        e_(region, 1),
        rows_(axes(plan.rows, "row")),
        columns_(axes(plan.columns, "column")),
        inner_(columns_.axes.back().name),
        packs_(e_, inner_, names_of(rows_, columns_)) {
    e_.ranges = plan.ranges();
    e_.rename = rows_.rename;
    for (const auto& [name, to] : columns_.rename) {
      e_.rename.insert_or_assign(name,
                                 substitute(to, {{inner_, variable(inner_) + variable(kLane)}}));
    }
    plain_ = rows_.rename;
    for (const auto& [name, to] : columns_.rename) plain_.insert_or_assign(name, to);
  }

  std::string body() {
    open_row();
    e_.on_node = [this](NodeId id, const Index& index) { return node(id, index); };
    e_.on_load = [this](NodeId, const Buffer& buffer, const Dim& address) {
      return load(buffer, address);
    };
    for (pass_ = 0; pass_ < plan_.passes.size(); ++pass_) reduction_pass(plan_.passes[pass_]);
    row_stores();
    if (!plan_.full_stores.empty()) store_pass();
    const std::string values = first_loads() + e_.close();
    CudaWriter w(1);
    w.raw(e_.at(0).text());
    for (const std::string& slots : shared_) w.line(slots);
    write_head(w, values);
    return w.text();
  }

  Emitter& emitter() { return e_; }
  const Packs& packs() const { return packs_; }
  const Habits& seen() const { return seen_; }
  const std::vector<Axis>& columns() const { return columns_.axes; }

 private:
  std::string tune(const char* name) const { return name + region_.suffix; }
  std::string threads() const { return tune(team_ == Team::Block ? "THREADS" : "LANES"); }
  bool loops() const { return !registers_; }

  Joined axes(const Domain& domain, const std::string& name) const {
    const Joined one = joined(domain, plan_.used, {name});
    if (one.axes.size() == 1) return one;
    return joined(domain, plan_.used, {name + "_inner", name + "_outer"});
  }

  static std::set<std::string> names_of(const Joined& rows, const Joined& columns) {
    std::set<std::string> names;
    for (const Axis& axis : rows.axes) names.insert(axis.name);
    for (const Axis& axis : columns.axes) names.insert(axis.name);
    return names;
  }

  void open_row() {
    std::vector<std::string> variables = plan_.row_variables();
    for (const Axis& axis : rows_.axes) variables.push_back(axis.name);
    for (const char* own : {"row", "own_row", "thread"}) variables.emplace_back(own);
    row_scope_ = e_.open(variables, 0, loops() ? 1 : 0);
  }

  // Pack and lane scopes of one pass.
  void open_pass(bool guarded) {
    std::vector<std::string> variables = plan_.column_variables();
    for (const Axis& axis : columns_.axes) variables.push_back(axis.name);
    variables.emplace_back("column");
    pack_scope_ = e_.open(variables, row_scope_, guarded ? 2 : 1);
    lane_scope_ = e_.open({kLane}, pack_scope_);
    for (const auto& [name, to] : columns_.rename) {
      if (mentions(to, inner_)) e_.set_level(name, lane_scope_);
    }
    in_pass_.clear();
  }

  /// The loop over this thread's packs of the row.
  void write_columns(CudaWriter& w, const std::string& condition,
                     const std::function<void()>& inside) {
    const std::string count = e_.text(plan_.column_count());
    if (loops()) {
      const auto loop = w.block(
          fmt::format("for (Index column = thread * kVec; column < {}; column += {} * kVec)", count,
                      threads()));
      write_parts(w, columns_, "column");
      if (condition.empty()) {
        inside();
        return;
      }
      const auto block = w.block(fmt::format("if ({})", condition));
      inside();
      return;
    }
    w.line("#pragma unroll");
    const auto loop = w.block("for (int item = 0; item < kItems; ++item)");
    w.line(fmt::format("const Index column = (item * {} + thread) * kVec;", threads()));
    const auto block = w.block(
        fmt::format("if (column < {}{})", count, condition.empty() ? "" : " && " + condition));
    write_parts(w, columns_, "column");
    inside();
  }

  // Rows that several passes read, and those of the first pass, are loaded before anything else.
  std::string first_loads() {
    CudaWriter w(loops() ? 2 : 1);
    std::vector<const PackLoad*> first;
    for (const PackLoad& load : packs_.loads()) {
      if (is_kept(load.address)) first.push_back(&load);
    }
    for (const PackLoad* load : first) {
      w.line(
          fmt::format("Pack<{}, kVec> {}[kItems];", memory_type(load->buffer.dtype), load->name));
    }
    for (const auto& [id, name] : kept_) {
      w.line(fmt::format("{} {}[kItems][kVec];", register_type(region_.node(id).dtype), name));
    }
    if (first.empty()) return w.text();
    write_columns(w, "", [&] {
      for (const PackLoad* load : first) {
        w.line(fmt::format("{}[item] = load_pack<kVec>({} + {});", load->name, load->buffer.name,
                           load->address.text()));
      }
    });
    return w.text();
  }

  bool is_kept(const Dim& address) const {
    if (!registers_ || habits_ == nullptr) return registers_;
    const auto found = habits_->packs.find(address.text());
    return found != habits_->packs.end() &&
           (found->second.size() > 1 || found->second.count(0) > 0);
  }

  std::optional<Value> load(const Buffer& buffer, const Dim& address) {
    const Dim renamed = substitute(address, plain_);
    const bool kept = is_kept(renamed);
    const auto element = packs_.element(buffer, renamed, kept ? "[item]" : "");
    if (!element) return std::nullopt;
    e_.note(address);
    seen_.packs[renamed.text()].insert(pass_);
    if (!kept) in_pass_.insert(element->substr(0, element->find('.')));
    return Value{{from_memory(buffer.dtype, *element)}, lane_scope_};
  }

  std::optional<Value> node(NodeId id, const Index& index) {
    const auto result = results_.find(id);
    if (result != results_.end()) return Value{{result->second}, row_scope_};
    if (!is_costly(region_.node(id).op) || region_.loads.count(id) > 0) return std::nullopt;
    int level = 0;
    for (const Dim& dim : index) level = std::max(level, e_.level_of(dim));
    if (level != lane_scope_ || lane_scope_ == 0) return std::nullopt;
    seen_.costly[id].insert(pass_);
    if (!registers_ || habits_ == nullptr) return std::nullopt;
    const auto habit = habits_->costly.find(id);
    if (habit == habits_->costly.end() || habit->second.size() < 2 || kept_.size() > 1) {
      return std::nullopt;
    }
    return keep(id, index);
  }

  // Computed in the first pass that needs it, found in registers by the others.
  std::optional<Value> keep(NodeId id, const Index& index) {
    const auto known = kept_.find(id);
    if (known != kept_.end()) return Value{{known->second + "[item][lane]"}, lane_scope_};
    if (keeping_) return std::nullopt;
    keeping_ = true;
    Value value = e_.plain(id, index);
    keeping_ = false;
    const std::string name = e_.fresh("kept");
    kept_[id] = name;
    value = e_.bound({value.expr, lane_scope_}, region_.node(id).dtype,
                     std::string(graph::op_info(region_.node(id).op).name) + "_value");
    e_.at(lane_scope_).line(fmt::format("{}[item][lane] = {};", name, value.expr.text));
    return value;
  }

  void reduction_pass(const std::vector<NodeId>& reductions) {
    open_pass(registers_);
    std::vector<std::string> totals;
    for (const NodeId id : reductions) {
      const Node& node = region_.node(id);
      const std::string name =
          e_.fresh_variable(fmt::format("row_{}", graph::op_info(node.op).name), row_scope_);
      totals.push_back(name);
      const Node& operand = region_.node(node.inputs[0]);
      const Value x =
          e_.value(node.inputs[0], plan_.operand_index(node, operand, plan_.places.at(id)));
      e_.need(combine_of(node.op));
      e_.at(lane_scope_).line(joined_text(node.op, name, x, partial_type(node.dtype)));
    }
    const std::string lanes = e_.close(), packs = e_.close();
    CudaWriter& w = e_.at(row_scope_);
    for (size_t i = 0; i < reductions.size(); ++i) {
      const Node& node = region_.node(reductions[i]);
      w.line(fmt::format("{} {} = {};", partial_type(node.dtype), totals[i],
                         identity_of(node.op, node.dtype)));
    }
    write_columns(w, "", [&] { write_pass_body(w, packs, lanes, {}, {}); });
    for (size_t i = 0; i < reductions.size(); ++i) finish(reductions[i], totals[i]);
  }

  void write_pass_body(CudaWriter& w, const std::string& packs, const std::string& lanes,
                       const std::vector<std::string>& before_lanes,
                       const std::vector<std::string>& behind_lanes) {
    for (const PackLoad& load : packs_.loads()) {
      if (in_pass_.count(load.name) == 0) continue;
      w.line(fmt::format("const Pack<{}, kVec> {} = load_pack<kVec>({} + {});",
                         memory_type(load.buffer.dtype), load.name, load.buffer.name,
                         load.address.text()));
    }
    w.raw(packs);
    w.lines(before_lanes);
    w.line("#pragma unroll");
    {
      const auto block = w.block("for (int lane = 0; lane < kVec; ++lane)");
      w.raw(lanes);
    }
    w.lines(behind_lanes);
  }

  static std::string joined_text(Op op, const std::string& name, const Value& x, const char* type) {
    if (op == Op::Sum) return fmt::format("{} += {};", name, x.expr.text);
    if (op == Op::Prod) return fmt::format("{} *= {};", name, x.expr.operand());
    return fmt::format("{0} = {1}()({0}, static_cast<{2}>({3}));", name, combine_of(op), type,
                       x.expr.text);
  }

  void finish(NodeId id, const std::string& name) {
    const Node& node = region_.node(id);
    CudaWriter& w = e_.at(row_scope_);
    if (team_ == Team::Block) {
      const std::string slots = e_.fresh(name + "_slots");
      shared_.push_back(
          fmt::format("__shared__ {} {}[{} / 32];", partial_type(node.dtype), slots, threads()));
      w.line(fmt::format("{0} = reduce_block<{1}>({0}, {2}(), {3});", name, threads(),
                         combine_of(node.op), slots));
      e_.need("reduce_block");
    } else {
      w.line(fmt::format("{0} = reduce_lanes<{1}>({0}, {2}());", name, threads(),
                         combine_of(node.op)));
      e_.need("reduce_lanes");
    }
    const bool narrow = std::string_view(partial_type(node.dtype)) != register_type(node.dtype);
    results_[id] =
        narrow ? fmt::format("static_cast<{}>({})", register_type(node.dtype), name) : name;
  }

  void row_stores() {
    if (plan_.row_stores.empty()) return;
    lane_scope_ = 0;
    std::vector<std::string> lines;
    for (const Store& store : plan_.row_stores) {
      const Index index = plan_.index_of(store, region_);
      const Value value = e_.value(store.node, index);
      e_.touch(store.to);
      if (store.to.dtype == tensor::DType::E8m0) e_.need("to_exponent");
      lines.push_back(fmt::format("{}[{}] = {};", store.to.name,
                                  e_.text(linear(store.to.shape, index)),
                                  e_.stored(value, store.to.dtype)));
    }
    CudaWriter& w = e_.at(row_scope_);
    const auto block =
        w.block(team_ == Team::Block ? "if (thread == 0)" : "if (thread == 0 && own_row < rows)");
    w.lines(lines);
  }

  void store_pass() {
    open_pass(registers_ || team_ == Team::Lanes);
    std::vector<std::string> packs, stores;
    for (const Store& store : plan_.full_stores) {
      const Index index = plan_.index_of(store, region_);
      const Dim address = linear(store.to.shape, index);
      const Value value = e_.value(store.node, index);
      e_.touch(store.to);
      if (store.to.dtype == tensor::DType::E8m0) e_.need("to_exponent");
      const Dim renamed = substitute(address, plain_);
      if (!packs_.can_store(renamed)) {
        e_.at(lane_scope_)
            .line(fmt::format("{}[{}] = {};", store.to.name, e_.text(address),
                              e_.stored(value, store.to.dtype)));
        continue;
      }
      e_.note(address);
      const std::string pack = e_.fresh(store.to.name + "_pack");
      packs.push_back(fmt::format("Pack<{}, kVec> {};", memory_type(store.to.dtype), pack));
      e_.at(lane_scope_)
          .line(fmt::format("{}.at[lane] = {};", pack, e_.stored(value, store.to.dtype)));
      stores.push_back(
          fmt::format("store_pack({} + {}, {});", store.to.name, renamed.text(), pack));
      e_.need("store_pack");
    }
    const std::string lanes = e_.close(), pack_text = e_.close();
    CudaWriter& w = e_.at(row_scope_);
    write_columns(w, team_ == Team::Block ? "" : "own_row < rows",
                  [&] { write_pass_body(w, pack_text, lanes, packs, stores); });
  }

  /// Parts of a running number, where an axis could not be joined with the next.
  void write_parts(CudaWriter& w, const Joined& axes, const std::string& whole) {
    if (axes.axes.size() == 1) return;
    std::string left = whole;
    for (size_t a = axes.axes.size(); a-- > 0;) {
      const Axis& axis = axes.axes[a];
      const std::string extent = "(" + e_.text(axis.extent) + ")";
      w.line(a == 0 ? fmt::format("const Index {} = {};", axis.name, left)
                    : fmt::format("const Index {} = {} % {};", axis.name, left, extent));
      left = fmt::format("{} / {}", left, extent);
    }
  }

  void write_head(CudaWriter& w, const std::string& values) {
    const std::string rows = e_.text(plan_.row_count());
    if (team_ == Team::Block) {
      w.line("const int thread = threadIdx.x;");
      if (!loops()) {
        w.line("const Index row = blockIdx.x;");
        write_parts(w, rows_, "row");
        w.raw(values);
        return;
      }
      const auto loop =
          w.block(fmt::format("for (Index row = blockIdx.x; row < {}; row += gridDim.x)", rows));
      write_parts(w, rows_, "row");
      w.raw(values);
      if (!shared_.empty()) w.line("__syncthreads();");
      return;
    }
    const std::string per_block = fmt::format("({} / {})", tune("THREADS"), threads());
    w.line(fmt::format("const Index rows = {};", rows));
    w.line(fmt::format("const int thread = threadIdx.x % {};", threads()));
    const std::string start =
        fmt::format("static_cast<Index>(blockIdx.x) * {} + threadIdx.x / {}", per_block, threads());
    if (!loops()) {
      w.line(fmt::format("const Index own_row = {};", start));
      write_own_row(w, values);
      return;
    }
    w.line(fmt::format("const Index step = static_cast<Index>(gridDim.x) * {};", per_block));
    // All lanes of a warp take part in its shuffles, so all make the same number of rounds.
    const auto loop = w.block(fmt::format(
        "for (Index first = static_cast<Index>(blockIdx.x) * {}; first < rows; first += step)",
        per_block));
    w.line(fmt::format("const Index own_row = first + threadIdx.x / {};", threads()));
    write_own_row(w, values);
  }

  void write_own_row(CudaWriter& w, const std::string& values) {
    w.line("const Index row = own_row < rows ? own_row : rows - 1;");
    write_parts(w, rows_, "row");
    w.raw(values);
  }

  const Region& region_;
  const RowPlan& plan_;
  Team team_;
  bool registers_;
  const Habits* habits_;
  Emitter e_;
  Joined rows_, columns_;
  std::string inner_;
  Packs packs_;
  std::map<std::string, Dim> plain_;  // variables by axes, lanes left out
  int row_scope_ = 0, pack_scope_ = 0, lane_scope_ = 0;
  size_t pass_ = 0;
  std::set<std::string> in_pass_;  // packs loaded inside the pass
  std::vector<std::string> shared_;
  std::map<NodeId, std::string> results_, kept_;
  bool keeping_ = false;
  Habits seen_;
};

/// The plan lines around the kernels of one team.
class RowSchedule {
 public:
  RowSchedule(const Region& region, const Situation& situation, Team team)
      : region_(region), situation_(situation), team_(team), plan_(*plan_rows(region)) {}

  Kernel emit() {
    RowKernel trial(region_, plan_, team_, true, nullptr);
    trial.body();
    RowKernel fast(region_, plan_, team_, true, &trial.seen());
    RowKernel slow(region_, plan_, team_, false, nullptr);
    packs_ = &fast.packs();
    Kernel kernel;
    write(kernel, fast, region_.name, "typename Index, int kVec, int kItems",
          "read once, kept in registers");
    write(kernel, slow, region_.name + "_long", "typename Index, int kVec",
          "read again in every pass");
    inner_ = fast.columns().back().extent;
    add_knobs(kernel);
    add_variants(kernel);
    return kernel;
  }

 private:
  std::string tune(const char* name) const { return name + region_.suffix; }
  std::string team() const { return tune(team_ == Team::Block ? "THREADS" : "LANES"); }

  void write(Kernel& kernel, RowKernel& row, const std::string& name, const std::string& templates,
             const char* how) {
    const std::string body = row.body();
    const Head head = head_of(row.emitter(), name, templates, tune("THREADS"));
    (row.emitter().region().name == name ? fast_args_ : slow_args_) = head.args;
    std::vector<std::string> names;
    for (const Store& store : region_.stores) names.push_back(store.to.name);
    if (!kernel.source.empty()) kernel.source += "\n";
    kernel.source +=
        fmt::format("// {}: {} per row, which is {}.\n{} {{\n{}}}\n", join(names, ", "),
                    team_ == Team::Block ? "one block" : team() + " lanes", how, head.text, body);
    kernel.functions.insert(row.emitter().functions().begin(), row.emitter().functions().end());
    kernel.functions.insert("load_pack");
  }

  int64_t narrowest() const {
    int64_t size = 16;
    for (const PackLoad& load : packs_->loads()) {
      size = std::min<int64_t>(size, tensor::dtype_size(load.buffer.dtype));
    }
    for (const Store& store : plan_.full_stores) {
      size = std::min<int64_t>(size, tensor::dtype_size(store.to.dtype));
    }
    return size;
  }

  int64_t widest() const {
    int64_t size = 1;
    for (const PackLoad& load : packs_->loads()) {
      size = std::max<int64_t>(size, tensor::dtype_size(load.buffer.dtype));
    }
    return size;
  }

  /// How many packs a thread may hold before its registers run out.
  int64_t most_items() const {
    const size_t rows = packs_->loads().size();
    return rows <= 1 ? 16 : rows <= 2 ? 8 : 4;
  }

  void add_knobs(Kernel& kernel) {
    const int64_t vec = packs_->loads().empty() ? 1 : std::max<int64_t>(1, 16 / narrowest());
    const int64_t columns = plan_.column_count().value();
    const int64_t packs = std::max<int64_t>(1, (columns + vec - 1) / vec);
    std::vector<int64_t> vecs = {vec};
    if (vec > 1 && widest() > narrowest()) vecs.push_back(std::max<int64_t>(1, 16 / widest()));
    if (vecs.back() > 1) vecs.push_back(1);
    if (team_ == Team::Block) {
      int64_t threads = 64;
      while (threads < 1024 && threads * 4 < packs) threads *= 2;
      std::vector<int64_t> values = {threads};
      if (threads < 1024) values.push_back(threads * 2);
      values.push_back(threads / 2);
      if (situation_.alone && threads < 512) values.push_back(threads * 4);
      kernel.tunes.push_back({tune("THREADS"), values, ""});
    } else {
      int64_t lanes = 32;
      while (lanes > 1 && lanes / 2 >= packs) lanes /= 2;
      std::vector<int64_t> values = {lanes};
      if (lanes > 1) values.push_back(lanes / 2);
      if (lanes < 32) values.push_back(lanes * 2);
      kernel.tunes.push_back({tune("LANES"), values, ""});
      kernel.tunes.push_back(
          {tune("THREADS"),
           situation_.alone ? std::vector<int64_t>{128, 256} : std::vector<int64_t>{128}, ""});
    }
    kernel.tunes.push_back({tune("VEC"), vecs, ""});
    kernel.tunes.push_back({tune("REGISTERS"), {1, 0}, ""});
    kernel.tunes.push_back({"STREAM", {0, 1}, ""});
    add_methods(kernel, vecs.size() > 1);
  }

  void add_methods(Kernel& kernel, bool vectors) {
    if (vectors) {
      kernel.methods.push_back(
          {"memory.vectorized_access", tune("VEC") + " > 1", tune("VEC") + "=1"});
    }
    kernel.methods.push_back({"compute.ilp_unroll_register_tile", tune("REGISTERS") + " == 1",
                              tune("REGISTERS") + "=0"});
    kernel.methods.push_back({"memory.ldg_cache_modifier_hint", "STREAM == 1", "STREAM=0"});
    kernel.methods.push_back({"compute.reduction", "", ""});
    kernel.methods.push_back({"compute.warp_shuffle", "", ""});
    kernel.methods.push_back({"memory.coalesced_access", "", ""});
    if (interior(region_).size() > 1) kernel.methods.push_back({"memory.kernel_fusion", "", ""});
  }

  std::string packs_let(Kernel& kernel, const std::string& name, const std::string& vec) const {
    const std::string count = fmt::format("ceil_div({}, {}{})", plan_.column_count().text(), team(),
                                          vec.empty() ? "" : " * " + vec);
    kernel.lets.emplace_back(name, count);
    const std::string items = name + "_ITEMS";
    kernel.lets.emplace_back(
        items,
        fmt::format("1 + ({0} > 1) + ({0} > 2) + ({0} > 3) + 2 * ({0} > 4) + 2 * ({0} > 6) + "
                    "4 * ({0} > 8) + 4 * ({0} > 12)",
                    name));
    return items;
  }

  void add_variants(Kernel& kernel) {
    const std::string rows = plan_.row_count().text(), vec = tune("VEC");
    const std::string per_block =
        team_ == Team::Block ? rows
                             : fmt::format("ceil_div({}, {} / {})", rows, tune("THREADS"), team());
    const auto launch = [&](const std::string& name, bool bounded) {
      return Launch{name, bounded ? per_block : fmt::format("min({}, 2147483647)", per_block),
                    tune("THREADS"), "",
                    name.find("_long<") == std::string::npos ? fast_args_ : slow_args_};
    };
    std::vector<std::string> aligned = packs_->conditions(vec);
    const bool simple = inner_.terms().size() == 1 && inner_.text().find('*') == std::string::npos;
    aligned.push_back(
        fmt::format("{} % {} == 0", simple ? inner_.text() : "(" + inner_.text() + ")", vec));
    const std::string fits = fits_int(region_), on = tune("REGISTERS") + " == 1";
    const std::string packs = tune("PACKS"), singles = tune("SINGLES");
    const std::string items = packs_let(kernel, packs, vec);
    const std::string single_items = packs_let(kernel, singles, "");
    std::vector<std::string> conditions = aligned;
    conditions.insert(conditions.end(), {fits, on, fmt::format("{} <= {}", packs, most_items())});
    kernel.variants.push_back(
        {all_of(conditions),
         {launch(fmt::format("{}<int, {}, {}>", region_.name, vec, items), true)}});
    kernel.variants.push_back(
        {all_of({fits, on, fmt::format("{} <= {}", singles, 16)}),
         {launch(fmt::format("{}<int, 1, {}>", region_.name, single_items), true)}});
    conditions = aligned;
    conditions.push_back(fits);
    const std::string loose = region_.name + "_long";
    kernel.variants.push_back(
        {all_of(conditions), {launch(fmt::format("{}<int, {}>", loose, vec), false)}});
    kernel.variants.push_back({"", {launch(loose + "<long long, 1>", false)}});
  }

  const Region& region_;
  const Situation& situation_;
  Team team_;
  RowPlan plan_;
  const Packs* packs_ = nullptr;
  std::vector<std::string> fast_args_, slow_args_;
  Dim inner_{1};
};

}  // namespace

bool rows_apply(const Region& region, const Situation&) { return plan_rows(region).has_value(); }

bool rows_prefer_lanes(const Region& region, const Situation&) {
  const std::optional<RowPlan> plan = plan_rows(region);
  return plan && plan->column_count().value() <= 1024 && plan->row_count().value() >= 256;
}

Kernel block_per_row_emit(const Region& region, const Situation& situation) {
  return RowSchedule(region, situation, Team::Block).emit();
}

Kernel lanes_per_row_emit(const Region& region, const Situation& situation) {
  return RowSchedule(region, situation, Team::Lanes).emit();
}

}  // namespace kw::codegen
