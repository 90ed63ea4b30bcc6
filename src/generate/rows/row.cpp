// The problem: a row program reads a row several times, and memory is the bottleneck. The choice: a
// block or a few lanes per row, with the row in registers if it fits. Otherwise every pass reads
// the row again; an online variant needs one pass less. The alternative, a fixed thread group per
// row, is slow for very short or very long rows. The cost: up to three kernels per module, chosen
// by conditions on the shape.
#include <fmt/core.h>

#include <algorithm>

#include "emit/emit.h"
#include "rows/row_kernel.h"
#include "rows/schedules.h"

namespace kw::generate {

namespace {

constexpr int64_t kLongForLanes = 16384;  // with more columns a warp is too small

constexpr int64_t kManyRows = 8192;  // with so many, threads may take several rows

/// Writes the plan lines for the kernels of one thread group.
class RowSchedule : ScheduleFrame {
 public:
  RowSchedule(const Region& region, const TargetContext& context, Team team)
      : ScheduleFrame(region, context), team_(team), plan_(*plan_rows(region)) {}

  Kernel emit() {
    RowKernel trial(region_, plan_, team_, true, nullptr);
    trial.body();
    packs_ = &trial.packs();
    RowKernel fast(region_, plan_, team_, true, &trial.seen());
    if (takes_turns()) fast.take_turns();
    RowKernel slow(region_, plan_, team_, false, nullptr);
    packs_ = &fast.packs();
    fast_ = write(fast, region_.name, "typename Index, int kVec, int kItems, bool kWhole",
                  "read once, kept in registers");
    slow_ =
        write(slow, region_.name + "_long", "typename Index, int kVec", "read again in every pass");
    inner_ = fast.columns().back().extent;
    const std::optional<RowPlan> online = plan_online(region_, plan_);
    if (online && team_ == Team::Block && is_long()) {
      RowKernel once(region_, *online, team_, false, nullptr);
      online_ =
          write(once, region_.name + "_online", "typename Index, int kVec",
                online->centred.empty() ? "read once less, its sum rescaled as its maximum grows"
                                        : "read once less, its squares about the mean so far");
    }
    add_knobs();
    add_variants();
    return kernel_.take();
  }

 private:
  std::string team() const { return name(team_ == Team::Block ? "THREADS" : "LANES"); }

  DeviceFunction write(RowKernel& row, const std::string& function, const std::string& templates,
                       const char* how) {
    const std::string body = row.body();
    kernel_.need({"load_pack"});
    return kernel_.function(
        row.emitter(),
        fmt::format("{}: {} per row, which is {}.", kernel_.results(),
                    team_ == Team::Block ? "one block" : team() + " lanes", how),
        function, templates, name("THREADS"), body);
  }

  /// Whether the row is too long for a block's registers.
  bool is_long() const {
    return plan_.column_count().value() > 1024 * most_items() * (16 / narrowest());
  }

  int64_t widest_pack() const { return std::max<int64_t>(1, 16 / narrowest()); }

  int64_t packs_per_row() const {
    const int64_t vec = is_packed() ? widest_pack() : 1;
    return std::max<int64_t>(1, (plan_.column_count().value() + vec - 1) / vec);
  }

  bool is_packed() const { return !packs_->loads().empty() && plan_.is_contiguous(); }

  /// Whether rows are so short that a block with them moves too little data.
  bool is_brief() const { return team_ == Team::Lanes && packs_per_row() <= 2; }

  bool takes_turns() const {
    return team_ == Team::Lanes && context_.alone && plan_.row_count().value() >= kManyRows;
  }

  int64_t narrowest() const {
    int64_t size = packs_->narrowest();
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

  /// The number of packs that a thread can hold in its registers.
  int64_t most_items() const {
    const size_t rows = packs_->loads().size();
    return rows <= 1 ? 16 : rows <= 2 ? 8 : 4;
  }

  void add_knobs() {
    const int64_t vec = is_packed() ? widest_pack() : 1;
    std::vector<int64_t> vecs = {vec};
    if (vec > 1 && widest() > narrowest()) vecs.push_back(std::max<int64_t>(1, 16 / widest()));
    if (vecs.back() > 1) vecs.push_back(1);
    if (team_ == Team::Block) {
      add_block_threads();
    } else {
      add_lanes();
    }
    kernel_.tune("VEC", vecs);
    const std::string registers = kernel_.tune("REGISTERS", {1, 0});
    if (online_) kernel_.switch_method("latency.online_recomputation", "ONLINE");
    if (vecs.size() > 1) kernel_.method_of("memory.vectorized_access", "VEC");
    kernel_.method("compute.ilp_unroll_register_tile", registers + " == 1", registers + "=0");
    if (takes_turns()) kernel_.method_of("compute.thread_coarsening", "TURNS");
    kernel_.methods({"compute.reduction", "compute.warp_shuffle", "memory.coalesced_access"});
    if (interior(region_).size() > 1) kernel_.method("memory.kernel_fusion");
  }

  void add_block_threads() {
    const int64_t packs = packs_per_row();
    int64_t threads = 64;
    while (threads < 1024 && threads * 4 < packs) threads *= 2;
    std::vector<int64_t> values = {threads};
    if (threads < 1024) values.push_back(threads * 2);
    values.push_back(threads / 2);
    // One pack per thread: the only latency is the row's own reduction.
    if (context_.alone && threads < 512 && threads * 4 <= packs) values.push_back(threads * 4);
    kernel_.tune("THREADS", values);
  }

  void add_lanes() {
    int64_t lanes = 32;
    while (lanes > 1 && lanes / 2 >= packs_per_row()) lanes /= 2;
    // If columns are far apart, adjacent threads take adjacent rows instead.
    if (!plan_.is_contiguous()) lanes = 1;
    kernel_.tune("LANES", {lanes, lanes > 1 ? lanes / 2 : 8});
    std::vector<int64_t> threads = {is_brief() ? 256 : 128};
    if (context_.alone) threads.push_back(is_brief() ? 1024 : 256);
    kernel_.tune("THREADS", threads);
    if (!takes_turns()) return;
    kernel_.tune("TURNS", is_brief() ? std::vector<int64_t>{4, 2, 1} : std::vector<int64_t>{1, 2});
  }

  void add_variants() {
    const std::string rows = plan_.row_count().text(), vec = name("VEC");
    const std::string threads = name("THREADS"), columns = plan_.column_count().text();
    const bool block = team_ == Team::Block;
    const std::string per_block =
        block ? rows : fmt::format("ceil_div({}, {} / {})", rows, threads, team());
    const std::string bounded = takes_turns() ? fmt::format("ceil_div({}, {} / {} * {})", rows,
                                                            threads, team(), name("TURNS"))
                                              : per_block;
    const std::string loose = fmt::format("min({}, 2147483647)", per_block);
    std::vector<std::string> aligned = packs_->conditions(vec);
    aligned.push_back(fmt::format("{} % {} == 0", as_factor(inner_), vec));
    const std::string fits = fits_int(region_), on = name("REGISTERS") + " == 1";
    aligned.push_back(fits);
    const std::string packs = name("PACKS"), singles = name("SINGLES");
    const std::string items =
        kernel_.items("PACKS", fmt::format("ceil_div({}, {} * {})", columns, team(), vec));
    const std::string single_items =
        kernel_.items("SINGLES", fmt::format("ceil_div({}, {})", columns, team()));
    const std::string whole =
        kernel_.let("WHOLE", fmt::format("{} == {} * {} * {}", columns, team(), vec, items));
    std::vector<std::string> kept = aligned;
    kept.insert(kept.end(), {on, fmt::format("{} <= {}", packs, most_items())});
    kernel_.variant(
        kept, {fast_.launch(fmt::format("int, {}, {}, {}", vec, items, whole), bounded, threads)});
    kernel_.variant({fits, on, singles + " <= 16"},
                    {fast_.launch(fmt::format("int, 1, {}, 0", single_items), bounded, threads)});
    if (online_) {
      std::vector<std::string> once = aligned;
      once.push_back(name("ONLINE") + " == 1");
      kernel_.variant(once, {online_->launch("int, " + vec, loose, threads)});
    }
    kernel_.variant(aligned, {slow_.launch("int, " + vec, loose, threads)});
    kernel_.variant({}, {slow_.launch("long long, 1", loose, threads)});
  }

  Team team_;
  RowPlan plan_;
  const Packs* packs_ = nullptr;
  DeviceFunction fast_, slow_;
  std::optional<DeviceFunction> online_;
  Dim inner_{1};
};

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

}  // namespace

Schedules row_schedules() {
  return {{"block_per_row", "a block per row: reductions and what follows them", rows_apply,
           emit_by<RowSchedule, Team::Block>},
          {"lanes_per_row", "a warp or a part of one per row: reductions and what follows them",
           lanes_apply, emit_by<RowSchedule, Team::Lanes>, rows_prefer_lanes}};
}

}  // namespace kw::generate
