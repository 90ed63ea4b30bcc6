// Schedules of row programs: a block, or a few lanes, per row. The row is read once into registers
// where it fits, and read again in every pass where it does not.
#include <fmt/core.h>

#include <algorithm>

#include "core/text.h"
#include "emit/emit.h"
#include "rows/row_kernel.h"
#include "rows/schedules.h"

namespace kw::generate {

using graph::Node;
using graph::NodeId;
using graph::Op;

namespace {

constexpr int64_t kLongForLanes = 16384;  // columns beyond which a warp is too few threads

constexpr int64_t kManyRows = 8192;  // of them threads may take more than one

/// The plan lines around the kernels of one team.
class RowSchedule {
 public:
  RowSchedule(const Region& region, const TargetContext& context, Team team)
      : region_(region), context_(context), team_(team), plan_(*plan_rows(region)) {}

  Kernel emit() {
    RowKernel trial(region_, plan_, team_, true, nullptr);
    trial.body();
    packs_ = &trial.packs();
    RowKernel fast(region_, plan_, team_, true, &trial.seen());
    if (takes_turns()) fast.take_turns();
    RowKernel slow(region_, plan_, team_, false, nullptr);
    packs_ = &fast.packs();
    Kernel kernel;
    write(kernel, fast, region_.name, "typename Index, int kVec, int kItems, bool kWhole",
          "read once, kept in registers");
    write(kernel, slow, region_.name + "_long", "typename Index, int kVec",
          "read again in every pass");
    inner_ = fast.columns().back().extent;
    const std::optional<RowPlan> online = plan_online(region_, plan_);
    if (online && team_ == Team::Block && is_long()) {
      RowKernel once(region_, *online, team_, false, nullptr);
      write(kernel, once, region_.name + "_online", "typename Index, int kVec",
            online->centred.empty() ? "read once less, its sum rescaled as its maximum grows"
                                    : "read once less, its squares about the mean so far");
      online_ = true;
    }
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
    const KernelSignature head = signature_of(row.emitter(), name, templates, tune("THREADS"));
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

  /// Whether a block's registers cannot hold the row.
  bool is_long() const {
    return plan_.column_count().value() > 1024 * most_items() * (16 / narrowest());
  }

  int64_t widest_pack() const { return std::max<int64_t>(1, 16 / narrowest()); }

  int64_t packs_per_row() const {
    const int64_t vec = is_packed() ? widest_pack() : 1;
    return std::max<int64_t>(1, (plan_.column_count().value() + vec - 1) / vec);
  }

  bool is_packed() const { return !packs_->loads().empty() && plan_.is_contiguous(); }

  /// Rows so short that a block of them moves too little to be worth starting.
  bool is_brief() const { return team_ == Team::Lanes && packs_per_row() <= 2; }

  bool takes_turns() const {
    return team_ == Team::Lanes && context_.alone && plan_.row_count().value() >= kManyRows;
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
    const int64_t vec = is_packed() ? widest_pack() : 1;
    const int64_t packs = packs_per_row();
    std::vector<int64_t> vecs = {vec};
    if (vec > 1 && widest() > narrowest()) vecs.push_back(std::max<int64_t>(1, 16 / widest()));
    if (vecs.back() > 1) vecs.push_back(1);
    if (team_ == Team::Block) {
      int64_t threads = 64;
      while (threads < 1024 && threads * 4 < packs) threads *= 2;
      std::vector<int64_t> values = {threads};
      if (threads < 1024) values.push_back(threads * 2);
      values.push_back(threads / 2);
      // One pack a thread: nothing to wait for but the row's own reduction.
      if (context_.alone && threads < 512 && threads * 4 <= packs) values.push_back(threads * 4);
      kernel.tunes.push_back({tune("THREADS"), values, ""});
    } else {
      int64_t lanes = 32;
      while (lanes > 1 && lanes / 2 >= packs) lanes /= 2;
      // Columns that lie far apart: neighbouring threads take neighbouring rows instead.
      if (!plan_.is_contiguous()) lanes = 1;
      std::vector<int64_t> values = {lanes};
      values.push_back(lanes > 1 ? lanes / 2 : 8);
      kernel.tunes.push_back({tune("LANES"), values, ""});
      std::vector<int64_t> threads = {is_brief() ? 256 : 128};
      if (context_.alone) threads.push_back(is_brief() ? 1024 : 256);
      kernel.tunes.push_back({tune("THREADS"), threads, ""});
      if (takes_turns()) add_turns(kernel);
    }
    kernel.tunes.push_back({tune("VEC"), vecs, ""});
    kernel.tunes.push_back({tune("REGISTERS"), {1, 0}, ""});
    if (online_) add_online(kernel, region_);
    add_methods(kernel, vecs.size() > 1);
  }

  void add_turns(Kernel& kernel) {
    const std::vector<int64_t> turns =
        is_brief() ? std::vector<int64_t>{4, 2, 1} : std::vector<int64_t>{1, 2};
    kernel.tunes.push_back({tune("TURNS"), turns, ""});
  }

  void add_methods(Kernel& kernel, bool vectors) {
    if (vectors) {
      kernel.methods.push_back(
          {"memory.vectorized_access", tune("VEC") + " > 1", tune("VEC") + "=1"});
    }
    kernel.methods.push_back({"compute.ilp_unroll_register_tile", tune("REGISTERS") + " == 1",
                              tune("REGISTERS") + "=0"});
    if (takes_turns()) {
      kernel.methods.push_back(
          {"compute.thread_coarsening", tune("TURNS") + " > 1", tune("TURNS") + "=1"});
    }
    kernel.methods.push_back({"compute.reduction", "", ""});
    kernel.methods.push_back({"compute.warp_shuffle", "", ""});
    kernel.methods.push_back({"memory.coalesced_access", "", ""});
    if (interior(region_).size() > 1) kernel.methods.push_back({"memory.kernel_fusion", "", ""});
  }

  void add_variants(Kernel& kernel) {
    const std::string rows = plan_.row_count().text(), vec = tune("VEC");
    const std::string per_block =
        team_ == Team::Block ? rows
                             : fmt::format("ceil_div({}, {} / {})", rows, tune("THREADS"), team());
    const std::string in_turns =
        fmt::format("ceil_div({}, {} / {} * {})", rows, tune("THREADS"), team(), tune("TURNS"));
    const auto launch = [&](const std::string& name, bool bounded) {
      return Launch{name,
                    !bounded        ? fmt::format("min({}, 2147483647)", per_block)
                    : takes_turns() ? in_turns
                                    : per_block,
                    tune("THREADS"), "",
                    name.find(region_.name + "<") == 0 ? fast_args_ : slow_args_};
    };
    std::vector<std::string> aligned = packs_->conditions(vec);
    const bool simple = inner_.terms().size() == 1 && inner_.text().find('*') == std::string::npos;
    aligned.push_back(
        fmt::format("{} % {} == 0", simple ? inner_.text() : "(" + inner_.text() + ")", vec));
    const std::string fits = fits_int(region_), on = tune("REGISTERS") + " == 1";
    const std::string packs = tune("PACKS"), singles = tune("SINGLES");
    const std::string columns = plan_.column_count().text();
    const std::string items =
        add_items(kernel, packs, fmt::format("ceil_div({}, {} * {})", columns, team(), vec));
    const std::string single_items =
        add_items(kernel, singles, fmt::format("ceil_div({}, {})", columns, team()));
    const std::string whole = tune("WHOLE");
    kernel.lets.emplace_back(whole, fmt::format("{} == {} * {} * {}", columns, team(), vec, items));
    std::vector<std::string> conditions = aligned;
    conditions.insert(conditions.end(), {fits, on, fmt::format("{} <= {}", packs, most_items())});
    kernel.variants.push_back(
        {all_of(conditions),
         {launch(fmt::format("{}<int, {}, {}, {}>", region_.name, vec, items, whole), true)}});
    kernel.variants.push_back(
        {all_of({fits, on, fmt::format("{} <= {}", singles, 16)}),
         {launch(fmt::format("{}<int, 1, {}, 0>", region_.name, single_items), true)}});
    conditions = aligned;
    conditions.push_back(fits);
    const std::string loose = region_.name + "_long";
    if (online_) {
      std::vector<std::string> once = conditions;
      once.push_back(tune("ONLINE") + " == 1");
      kernel.variants.push_back(
          {all_of(once), {launch(fmt::format("{}_online<int, {}>", region_.name, vec), false)}});
    }
    kernel.variants.push_back(
        {all_of(conditions), {launch(fmt::format("{}<int, {}>", loose, vec), false)}});
    kernel.variants.push_back({"", {launch(loose + "<long long, 1>", false)}});
  }

  const Region& region_;
  const TargetContext& context_;
  Team team_;
  RowPlan plan_;
  const Packs* packs_ = nullptr;
  std::vector<std::string> fast_args_, slow_args_;
  Dim inner_{1};
  bool online_ = false;
};

}  // namespace

void add_online(Kernel& kernel, const Region& region) {
  const std::string name = "ONLINE" + region.suffix;
  kernel.tunes.push_back({name, {1, 0}, ""});
  kernel.methods.push_back({"latency.online_recomputation", name + " == 1", name + "=0"});
}

bool rows_apply(const Region& region, const TargetContext&) {
  const std::optional<RowPlan> plan = plan_rows(region);
  return plan && !plan->lies_across();
}

bool lanes_apply(const Region& region, const TargetContext&) {
  const std::optional<RowPlan> plan = plan_rows(region);
  return plan && !plan->lies_across() &&
         (plan->column_count().value() <= kLongForLanes || !plan->is_contiguous());
}

bool rows_prefer_lanes(const Region& region, const TargetContext&) {
  const std::optional<RowPlan> plan = plan_rows(region);
  if (!plan) return false;
  if (!plan->is_contiguous()) return plan->row_count().value() >= 1024;
  return plan->column_count().value() <= 1024 && plan->row_count().value() >= 256;
}

Kernel block_per_row_emit(const Region& region, const TargetContext& context) {
  return RowSchedule(region, context, Team::Block).emit();
}

Kernel lanes_per_row_emit(const Region& region, const TargetContext& context) {
  return RowSchedule(region, context, Team::Lanes).emit();
}

}  // namespace kw::generate
