// The problem: a scan along a dim that is not the last would read elements far apart. The choice:
// adjacent threads have adjacent rows, kVec each, so every step is one coalesced access. Layers of
// threads scan SPAN columns each; shared memory combines their totals, a carry goes from tile to
// tile. The alternative, a transpose, reads and writes everything once more. The cost: registers
// for SPAN * kVec elements, and two schedules:
// - scan_columns: a block scans its rows from end to end.
// - scan_columns_split: several blocks per row; the carry comes from a first launch. Reads twice.
#include <fmt/core.h>

#include <algorithm>

#include "core/text.h"
#include "emit/emit.h"
#include "scans/scan.h"
#include "scans/schedules.h"

namespace kw::generate {

namespace {

constexpr int64_t kSegment = 128;  // adjacent bytes that a layer should read

ReducedLoop columns_of(const Region& region, const Scans& scans) {
  std::vector<NodeId> values = {scans.input};
  for (const Store& store : region.stores) values.push_back(store.node);
  return ReducedLoop(region, scans.first->shape, scans.first->attrs.dims, values, scans.nodes);
}

class ColumnScan : ScheduleFrame {
 public:
  ColumnScan(const Region& region, const TargetContext& context, bool split)
      : ScheduleFrame(region, context),
        split_(split),
        scans_(*scans_of(region)),
        ordered_(needs_order(scans_)),
        loop_(columns_of(region, scans_)),
        joining_(joining_of(region, scans_)),
        e_(region, 1),
        packs_(e_, loop_.inner(), loop_.axes()) {
    e_.ranges = loop_.ranges();
    e_.rename = loop_.rename(variable(kLane));
  }

  Kernel emit() {
    write_values();
    const std::string body = write_body();
    Parameters more;
    if (split_) {
      more.emplace_back("Index part_length", name("PART"));
      more.emplace_back("Index parts", name("PARTS"));
      more.emplace_back(fmt::format("{}* totals", register_type(joining_.dtype())), totals());
      if (joining_.has_place()) more.emplace_back("long long* places", places());
    }
    const Joining::Lanes lanes = ordered_ ? Joining::Lanes::One : Joining::Lanes::Many;
    kernel_.device(joining_.definitions(kernel_.functions(), lanes));
    if (!ordered_) kernel_.device(meet_text());
    const DeviceFunction function = kernel_.function(
        e_, summary(), region_.name,
        split_ ? "typename Index, int kVec, bool kTotals" : "typename Index, int kVec",
        name("WIDTH") + " * " + name("STACK"), body, more);
    kernel_.need({"load_pack", "store_pack"});
    add_plan(function);
    return kernel_.finish();
  }

 private:
  std::string totals() const { return scratch_name(region_, "totals"); }
  std::string places() const { return scratch_name(region_, "places"); }
  bool exclusive() const { return scans_.first->attrs.exclusive; }
  bool reverse() const { return scans_.first->attrs.reverse; }

  /// The element's index; `column` counts in the direction of the scan.
  Index index() const {
    Index at = loop_.index();
    Dim& along = at[scans_.axis()];
    if (reverse()) along = loop_.columns() - Dim(1) - along;
    return at;
  }

  // Scopes: 1 is the thread's rows, 2 one step along them, 3 one of them.
  void open_step() {
    const int step = e_.open(loop_.column_variables(), 1, 2);
    std::vector<std::string> own = loop_.inner_variables();
    own.push_back(kLane);
    lane_scope_ = e_.open(own, step, 2);
  }

  void write_values() {
    e_.open(loop_.outer_variables(), 0, 0);
    rows_ = e_.text(loop_.rows());
    columns_ = e_.text(loop_.columns());
    e_.on_load = [this](const Buffer& buffer, const Dim& address) {
      return packs_.value(buffer, address, loop_.rename(Dim(0)), lane_scope_);
    };
    open_step();
    const Value in = e_.value(scans_.input, index());
    const std::string place = reverse() ? fmt::format("{} - 1 - column", columns_) : "column";
    e_.at(lane_scope_)
        .line("runs[u][lane] = {};", joining_.of(converted(region_, scans_, joining_, in), place));
    lane_in_ = e_.close();
    step_in_ = e_.close();
    open_step();
    e_.on_node = [this](NodeId id, const Index&) {
      return scanned(region_, scans_, joining_, id, lane_scope_);
    };
    for (const Store& store : region_.stores)
      packs_.store(store, index(), loop_.rename(Dim(0)), lane_scope_);
    lane_out_ = e_.close();
    step_out_ = e_.close();
    row_text_ = e_.close();
  }

  std::string write_body() {
    CudaWriter w(1);
    w.raw(e_.at(0).text());
    const std::string width = name("WIDTH");
    w.line("const int layer = threadIdx.x / {};", width);
    w.line("const int first = threadIdx.x % {} * kVec;", width);
    w.line("const Index own_row = static_cast<Index>(blockIdx.x) * {} * kVec + first;", width);
    w.comment("Threads without a row stay for the barriers: they have no columns.");
    w.line("const Index row = own_row < {0} ? own_row : {0} - kVec;", rows_);
    loop_.write_row(e_, w);
    w.line("Index begin = 0, end = {};", columns_);
    if (split_) write_part(w);
    w.line("const Index own_columns = own_row < {} ? end : 0;", rows_);
    w.raw(row_text_);
    w.line("{} carry[kVec];", joining_.type());
    write_lanes(w, {fmt::format("carry[lane] = {};", joining_.identity())});
    if (split_) write_carry(w);
    if (!ordered_) {
      w.line("__shared__ {0} of_group[2][{1} * {2} / {3}][{1} * kVec];", joining_.type(), width,
             name("STACK"), group());
      w.line("int turn = 0;");
    }
    {
      const auto tiles = w.block("for (Index start = begin; start < end; start += {} * {})",
                                 name("STACK"), name("SPAN"));
      packs_.write_ahead(
          w, name("SPAN"), [&] { write_column(w); }, "column < own_columns");
      write_runs(w);
      if (!ordered_) write_meeting(w);
      write_outputs(w);
    }
    if (split_) write_totals(w);
    return w.text();
  }

  void write_part(CudaWriter& w) const {
    w.line("const Index part = blockIdx.y;");
    w.line("begin = part * part_length;");
    w.line("if (end - begin > part_length) end = begin + part_length;");
  }

  void write_carry(CudaWriter& w) const {
    const auto before = w.block("for (Index p = 0; !kTotals && p < part; ++p)");
    const std::string at = fmt::format("[p * {} + row + lane]", as_factor(loop_.rows()));
    write_lanes(
        w,
        {fmt::format("carry[lane] = {};",
                     joining_.join("carry[lane]",
                                   joining_.of("totals" + at,
                                               fmt::format("static_cast<Index>(places{})", at))))});
  }

  void write_lanes(CudaWriter& w, const std::vector<std::string>& lines) const {
    const std::string each = "for (int lane = 0; lane < kVec; ++lane)";
    w.line("#pragma unroll");
    if (lines.size() == 1 && each.size() + lines[0].size() < 88) {
      w.line(each + " " + lines[0]);
      return;
    }
    const auto lanes = w.block(each);
    w.lines(lines);
  }

  /// A loop over the thread's steps; `inside` is only for steps that exist.
  void write_steps(CudaWriter& w, const std::vector<std::string>& always,
                   const std::function<void()>& inside) {
    const auto steps = w.unrolled("for (int u = 0; u < {}; ++u)", name("SPAN"));
    write_column(w);
    w.lines(always);
    const auto there = w.block("if (column < own_columns)");
    inside();
  }

  void write_column(CudaWriter& w) const {
    w.line("const Index column = start + layer * {} + u;", name("SPAN"));
  }

  /// Every element combined with those before it of the same thread.
  void write_runs(CudaWriter& w) {
    w.line("{} runs[{}][kVec];", joining_.type(), name("SPAN"));
    const std::string nothing = fmt::format(
        "for (int lane = 0; lane < kVec; ++lane) runs[u][lane] = {};", joining_.identity());
    write_steps(w, {"#pragma unroll", nothing}, [&] {
      w.raw(step_in_);
      const auto lanes = w.unrolled("for (int lane = 0; lane < kVec; ++lane)");
      w.raw(lane_in_);
    });
    if (ordered_)
      write_lanes(
          w, {fmt::format("runs[0][lane] = {};", joining_.join("carry[lane]", "runs[0][lane]"))});
    const auto steps = w.unrolled("for (int u = 1; u < {}; ++u)", name("SPAN"));
    write_lanes(w, {fmt::format("runs[u][lane] = {};",
                                joining_.join("runs[u - 1][lane]", "runs[u][lane]"))});
  }

  // Tiles alternate in shared memory, so one barrier is enough.
  void write_meeting(CudaWriter& w) {
    w.line("{} before[kVec];", joining_.type());
    w.line("{}_meet(runs[{} - 1], carry, before, of_group[turn]);", region_.name, name("SPAN"));
    w.line("turn = 1 - turn;");
  }

  /// The number of threads in which shuffles can combine all layers: a warp, or one layer of more
  /// threads.
  std::string group() const { return fmt::format("({0} < 32 ? 32 : {0})", name("WIDTH")); }

  /// Device code: turns the layers' totals into the total before each layer.
  std::string meet_text() const {
    CudaWriter w;
    w.comment(
        "What lies before a thread's columns in its tile; the carry goes on behind the tile.");
    w.line(joining_.has_place() ? "template <typename Index, int kVec>" : "template <int kVec>");
    {
      const auto function = w.block(
          "__device__ __forceinline__ void {1}_meet(const {0} (&own)[kVec], {0} (&carry)[kVec], "
          "{0} (&before)[kVec], {0} (*of_group)[{2} * kVec])",
          joining_.type(), region_.name, name("WIDTH"));
      w.line("constexpr int kGroup = {}, kGroups = {} * {} / kGroup;", group(), name("WIDTH"),
             name("STACK"));
      w.line("const int group = threadIdx.x / kGroup, first = threadIdx.x % {} * kVec;",
             name("WIDTH"));
      write_shuffles(w);
      w.line("__syncthreads();");
      write_groups(w);
    }
    return w.text();
  }

  void write_shuffles(CudaWriter& w) const {
    const std::string width = name("WIDTH"), all = "0xffffffffu";
    const auto lanes = w.unrolled("for (int lane = 0; lane < kVec; ++lane)");
    w.line("{} upto = own[lane];", joining_.type());
    {
      const auto steps = w.unrolled("for (int by = {}; by < 32; by *= 2)", width);
      w.line("const {} below = {};", joining_.type(), joining_.from_below("upto", "by", all, "32"));
      w.line("if (threadIdx.x % 32 >= by) upto = {};", joining_.join("below", "upto"));
    }
    w.line("if (threadIdx.x % kGroup >= kGroup - {}) of_group[group][first + lane] = upto;", width);
    w.line("before[lane] = {};", joining_.from_below("upto", width + " % 32", all, "32"));
  }

  void write_groups(CudaWriter& w) const {
    const auto lanes = w.unrolled("for (int lane = 0; lane < kVec; ++lane)");
    w.line("{} outside = carry[lane];", joining_.type());
    {
      const auto groups = w.unrolled("for (int y = 0; y < kGroups; ++y)");
      w.line("if (y == group) outside = carry[lane];");
      w.line("carry[lane] = {};", joining_.join("carry[lane]", "of_group[y][first + lane]"));
    }
    w.line("before[lane] = threadIdx.x % kGroup < {} ? outside : {};", name("WIDTH"),
           joining_.join("outside", "before[lane]"));
  }

  std::string now() const {
    const std::string own = exclusive() ? "runs[u == 0 ? 0 : u - 1][lane]" : "runs[u][lane]";
    const std::string start = ordered_ ? "carry[lane]" : "before[lane]";
    const std::string joined = ordered_ ? own : joining_.join(start, own);
    return exclusive() ? fmt::format("u == 0 ? {} : {}", start, joined) : joined;
  }

  void write_outputs(CudaWriter& w) {
    const auto write = [&] {
      write_steps(w, {}, [&] {
        w.raw(step_out_);
        packs_.write_stores(w, [&] {
          const auto lanes = w.unrolled("for (int lane = 0; lane < kVec; ++lane)");
          w.line("const {} now = {};", joining_.type(), now());
          w.raw(lane_out_);
        });
      });
    };
    if (split_) w.line("if (kTotals) continue;");
    write();
    if (ordered_) write_lanes(w, {fmt::format("carry[lane] = runs[{} - 1][lane];", name("SPAN"))});
  }

  void write_totals(CudaWriter& w) const {
    const auto last = w.block("if (kTotals && layer == 0 && own_row < {})", rows_);
    const std::string at = fmt::format("[part * {} + row + lane]", as_factor(loop_.rows()));
    std::vector<std::string> lines = {
        fmt::format("totals{} = {};", at, joining_.value("carry[lane]"))};
    if (joining_.has_place())
      lines.push_back(fmt::format("places{} = {};", at, joining_.place("carry[lane]")));
    write_lanes(w, lines);
  }

  std::string summary() const {
    return fmt::format("{}: a stack of threads scans {} rows{},\n{} columns per thread and tile.",
                       kernel_.results(), name("WIDTH") + " * kVec", split_ ? " of a part" : "",
                       name("SPAN"));
  }

  void add_plan(const DeviceFunction& function) {
    using Values = std::vector<int64_t>;
    const int64_t narrowest = packs_.narrowest();
    int64_t vec = packs_.packed() ? packs_.width() : 1;
    while (vec > 1 && loop_.inner_extent().value() % vec != 0) vec /= 2;
    int64_t width = std::max<int64_t>(4, kSegment / (vec * narrowest));
    while (width > 1 && width / 2 * vec >= loop_.inner_extent().value()) width /= 2;
    const int64_t columns = loop_.columns().value();
    int64_t stack = std::max<int64_t>(32 / width, 1);
    // Few blocks need more threads each.
    const bool few = loop_.rows().value() < 2 * int64_t{context_.target.default_sms} * width * vec;
    const int64_t most = few ? 32 : 16;
    while (stack < most && stack * 8 < columns && stack * width < 256) stack *= 2;
    if (ordered_) {
      stack = 1;
      width = 128;
    }
    kernel_.vectors(vec > 1 ? Values{vec, 1} : Values{1});
    kernel_.tune("WIDTH", {width, width * 2});
    kernel_.tune("STACK", ordered_ ? Values{1} : Values{stack, stack * 2});
    // Each of a thread's elements needs a register.
    kernel_.tune_method("compute.ilp_unroll_register_tile", "SPAN",
                        vec > 4 ? Values{4, 8, 1} : Values{8, 4, 1});
    kernel_.method("memory.coalesced_access");
    if (!ordered_) kernel_.method("latency.reduce_sync_count");
    if (split_) add_parts();
    kernel_.each_variant(packs_.packed(), packs_, as_factor(loop_.inner_extent()),
                         [&](const Instance& instance) { return launches(function, instance); });
  }

  std::string tiles(const std::string& vec) const {
    return fmt::format("ceil_div({}, {} * {})", loop_.rows().text(), name("WIDTH"), vec);
  }

  void add_parts() {
    cut_rows(kernel_, as_factor(loop_.columns()),
             fmt::format("{} * {}", name("STACK"), name("SPAN")), tiles(name("VEC")));
    const std::string extent = fmt::format("{} * {}", as_factor(loop_.rows()), name("PARTS"));
    kernel_.scratch(totals(), joining_.dtype(), extent);
    if (joining_.has_place()) kernel_.scratch(places(), DType::Int64, extent);
    kernel_.method("memory.split_k_parallel_reduce");
  }

  std::vector<Launch> launches(const DeviceFunction& function, const Instance& instance) const {
    const std::string block = name("WIDTH") + " * " + name("STACK");
    const std::string grid = tiles(instance.vec);
    if (!split_) return {function.launch(instance.types(), grid, block)};
    const std::string parts = grid + ", " + name("PARTS");
    return {function.launch(instance.types() + ", true", parts, block),
            function.launch(instance.types() + ", false", parts, block)};
  }

  bool split_;
  Scans scans_;
  bool ordered_;
  ReducedLoop loop_;
  Joining joining_;
  Emitter e_;
  Packs packs_;
  int lane_scope_ = 0;
  std::string rows_, columns_, lane_in_, step_in_, lane_out_, step_out_, row_text_;
};

bool scan_columns_applies(const Region& region, const TargetContext&) {
  const auto scans = scans_of(region);
  return scans && loop_of(region, *scans).rows_are_adjacent();
}

bool scan_columns_split_applies(const Region& region, const TargetContext& context) {
  if (!scan_columns_applies(region, context)) return false;
  const auto scans = scans_of(region);
  if (needs_order(*scans)) return false;
  const ReducedLoop loop = columns_of(region, *scans);
  return loop.columns().value() >= 4096 &&
         loop.rows().value() < 32 * int64_t{context.target.default_sms};
}

}  // namespace

Schedules scan_columns_schedules() {
  return {{"scan_columns_split", "several blocks scan neighbouring rows, after their parts' totals",
           scan_columns_split_applies, emit_by<ColumnScan, true>},
          {"scan_columns", "a stack of threads scans a few neighbouring rows", scan_columns_applies,
           emit_by<ColumnScan, false>}};
}

}  // namespace kw::generate
