// The problem: a scan depends on all elements before it, but should read and write a row once. The
// choice: every thread scans a pack, shuffles combine totals, a carry goes from tile to tile. The
// alternative, a tree over the row, needs more passes. The cost: four schedules by shape:
// - scan_warp: a warp, or a part of one, per row; no barriers.
// - scan_block: a block per row, one barrier per tile.
// - scan_split: several blocks per row; the carry comes from a first launch. Reads twice.
// - scan_chain: blocks wait for the tiles before them. Reads once; float sums depend on the order.
// Rows that are adjacent in memory are in scan_columns.cpp.
#include <fmt/core.h>

#include <algorithm>

#include "core/text.h"
#include "emit/emit.h"
#include "scans/joining.h"
#include "scans/scan.h"
#include "scans/schedules.h"

namespace kw::generate {

namespace {

enum class Scanners : uint8_t { Warp, Block, Split, Chain };

class RowScan : RowFrame {
 public:
  RowScan(const Region& region, const TargetContext& context, Scanners group)
      : RowFrame(region, context, loop_of(region, *scans_of(region)),
                 scans_of(region)->first->attrs.reverse ? "mirror" : "column"),
        group_(group),
        scans_(*scans_of(region)),
        joining_(joining_of(region, scans_)) {}

  Kernel emit() {
    write_values();
    const std::string body = write_body();
    const bool split = group_ == Scanners::Split, chain = group_ == Scanners::Chain;
    Parameters more;
    if (split) more.emplace_back("Index part_length", name("PART"));
    if (split || chain) {
      more.emplace_back(fmt::format("{}* totals", register_type(joining_.dtype())), totals());
      if (joining_.has_place()) more.emplace_back("long long* places", places());
    }
    if (chain) {
      more.emplace_back("unsigned int* tickets", scratch_name(region_, "ticket"));
      more.emplace_back("unsigned int* flags", scratch_name(region_, "flags"));
      kernel_.need({"load_acquire", "store_release"});
    }
    kernel_.device(joining_.definitions(kernel_.functions()));
    if (split) kernel_.device(before_text());
    if (chain) kernel_.device(chain_text(joining_, region_.name));
    const DeviceFunction function = kernel_.function(
        e_, summary(), region_.name,
        split ? "typename Index, int kVec, bool kTotals" : "typename Index, int kVec",
        name("THREADS"), body, more);
    kernel_.need({"load_pack", "store_pack"});
    add_plan(function);
    return kernel_.finish();
  }

 private:
  std::string totals() const { return scratch_name(region_, "totals"); }
  std::string places() const { return scratch_name(region_, "places"); }
  bool reverse() const { return scans_.first->attrs.reverse; }

  /// The position of a pack in memory: `column` counts in the direction of the scan, `mirror` in
  /// the opposite one.
  const char* memory_column() const { return reverse() ? "mirror" : "column"; }
  std::string position() const { return fmt::format("{} + {}", memory_column(), kLane); }

  /// The variable that counts a pack's elements in the direction of the scan.
  const char* step() const { return reverse() ? "step" : kLane; }
  std::string each_step(int from = 0) const {
    return fmt::format("for (int {0} = {1}; {0} < kVec; ++{0})", step(), from);
  }
  void write_elements(CudaWriter& w, const std::function<void()>& inside) const {
    const auto elements = w.unrolled(each_step());
    if (reverse()) w.line("const int lane = kVec - 1 - step;");
    inside();
  }

  void write_column(CudaWriter& w, const std::string& lanes) const {
    w.line("const Index column = start + (u * {} + member) * kVec;", lanes);
    if (reverse()) w.line("const Index mirror = {} - kVec - column;", length_);
  }

  // Scopes: 1 is the row, 2 a pack, 3 an element of it.
  void write_values() {
    const int deeper = group_ == Scanners::Chain ? 2 : 3;
    open_row();
    open_pack(deeper, {"column", "mirror"});
    const Value in = e_.value(scans_.input, loop_.index());
    e_.at(lane_scope_)
        .line("run[{}] = {};", step(),
              joining_.of(converted(region_, scans_, joining_, in), position()));
    lane_in_ = e_.close();
    pack_in_ = e_.close();
    open_pack(deeper, {"column", "mirror"});
    e_.on_node = [this](NodeId id, const Index&) {
      return scanned(region_, scans_, joining_, id, lane_scope_);
    };
    for (const Store& store : region_.stores)
      packs_.store(store, loop_.index(), in_memory_, lane_scope_);
    lane_out_ = e_.close();
    pack_out_ = e_.close();
    row_text_ = e_.close();
  }

  std::string write_body() {
    CudaWriter w(1);
    w.raw(e_.at(0).text());
    const std::string lanes = group_ == Scanners::Warp ? name("LANES") : name("THREADS");
    if (group_ == Scanners::Warp) {
      w.line("const int member = threadIdx.x % {};", lanes);
      w.line("const Index row = static_cast<Index>(blockIdx.x) * ({} / {}) + threadIdx.x / {};",
             name("THREADS"), lanes, lanes);
      w.line("if (row >= {}) return;", loop_.rows().text());
      w.line(
          "const unsigned int group = {0} == 32 ? 0xffffffffu : ((1u << {0} % 32) - 1u) << "
          "(threadIdx.x % 32 - member);",
          lanes);
    } else {
      w.line("const int member = threadIdx.x, warp = threadIdx.x / 32;");
      w.line("__shared__ {} joined[2][32];", joining_.type());
    }
    if (group_ == Scanners::Block) w.line("const Index row = blockIdx.x, begin = 0;");
    if (group_ == Scanners::Split) write_part(w, length_);
    if (group_ == Scanners::Chain)
      write_ticket(w, joining_, length_, fmt::format("{} * {} * kVec", lanes, name("UNROLL")));
    loop_.write_row(e_, w);
    w.raw(row_text_);
    write_carry(w);
    if (group_ == Scanners::Chain) {
      w.line("constexpr int turn = 0;");
      write_tile(w, lanes, length_);
      return w.text();
    }
    const std::string begin = group_ == Scanners::Warp ? "0" : "begin";
    const std::string end = group_ == Scanners::Split ? "end" : length_;
    if (group_ != Scanners::Warp) w.line("int turn = 0;");
    {
      const auto loop = w.block("for (Index start = {}; start < {}; start += {} * {} * kVec)",
                                begin, end, lanes, name("UNROLL"));
      write_tile(w, lanes, end);
    }
    if (group_ == Scanners::Split) write_total(w);
    return w.text();
  }

  void write_carry(CudaWriter& w) {
    w.line("{} carry = {};", joining_.type(), joining_.identity());
    if (group_ != Scanners::Split) return;
    w.line("if (!kTotals) carry = {}_before(totals + row * parts, {}part);", region_.name,
           joining_.has_place() ? "places + row * parts, " : "");
  }

  /// Device code: every warp combines the totals of the parts before its own, in order.
  std::string before_text() const {
    CudaWriter w;
    w.comment("The join of the parts before this one; every warp of the block computes it.");
    w.line("template <typename Index>");
    w.line("__device__ __forceinline__ {}", joining_.type());
    {
      const auto function = w.block("{}_before(const {}* totals, {}Index part)", region_.name,
                                    register_type(joining_.dtype()),
                                    joining_.has_place() ? "const long long* places, " : "");
      w.line("const int lane = threadIdx.x % 32;");
      w.line("const Index each = (part + 31) / 32, first = lane * each;");
      w.line("{} carry = {};", joining_.type(), joining_.identity());
      w.line("for (Index p = first; p < first + each && p < part; ++p) carry = {};",
             joining_.join("carry", joining_.of("totals[p]", "static_cast<Index>(places[p])")));
      w.line("carry = {};", joining_.upto("carry", "lane", "0xffffffffu", "32"));
      w.line("return {};", joining_.from_lane("carry", "31", "0xffffffffu", "32"));
    }
    return w.text();
  }

  void write_tile(CudaWriter& w, const std::string& lanes, const std::string& end) {
    const std::string each = fmt::format("for (int u = 0; u < {}; ++u)", name("UNROLL"));
    packs_.write_ahead(
        w, name("UNROLL"), [&] { write_column(w, lanes); }, fmt::format("column < {}", end));
    if (group_ != Scanners::Warp) {
      write_block_tile(w, each, lanes, end);
      return;
    }
    const auto loop = w.unrolled(each);
    write_column(w, lanes);
    write_runs(w, "run", end);
    w.line("const {} total = {};", joining_.type(),
           joining_.upto("run[kVec - 1]", "member", "group", lanes));
    w.line("{} before = {};", joining_.type(), joining_.from_below("total", "1", "group", lanes));
    w.line("before = member == 0 ? carry : {};", joining_.join("carry", "before"));
    w.line("carry = {};",
           joining_.join("carry", joining_.from_lane("total", lanes + " - 1", "group", lanes)));
    write_outputs(w, "run", end);
  }

  /// The pack's elements, each combined with those before it in the pack.
  void write_runs(CudaWriter& w, const std::string& run, const std::string& end) {
    w.line("{} {}[kVec];", joining_.type(), "run");
    w.line("#pragma unroll");
    w.line("{} {}[{}] = {};", each_step(), run, step(), joining_.identity());
    {
      const auto inside = w.block("if (column < {})", end);
      w.raw(pack_in_);
      write_elements(w, [&] { w.raw(lane_in_); });
    }
    w.line("#pragma unroll");
    w.line(
        "{} {}[{}] = {};", each_step(1), run, step(),
        joining_.join(fmt::format("{}[{} - 1]", run, step()), fmt::format("{}[{}]", run, step())));
  }

  void write_block_tile(CudaWriter& w, const std::string& each, const std::string& lanes,
                        const std::string& end) {
    const std::string unroll = name("UNROLL");
    w.line("{0} runs[{1}][kVec], upto[{1}];", joining_.type(), unroll);
    {
      const auto loop = w.unrolled(each);
      write_column(w, lanes);
      write_runs(w, "run", end);
      w.line("#pragma unroll");
      w.line("for (int lane = 0; lane < kVec; ++lane) runs[u][lane] = run[lane];");
      w.line("upto[u] = {};", joining_.upto("run[kVec - 1]", "member % 32", "0xffffffffu", "32"));
      w.line("if (member % 32 == 31) joined[turn][u * ({} / 32) + warp] = upto[u];",
             name("THREADS"));
    }
    w.line("__syncthreads();");
    w.comment("Every warp joins the totals of all warps and packs, in order.");
    w.line("{} sofar = member % 32 < {} * ({} / 32) ? joined[turn][member % 32] : {};",
           joining_.type(), unroll, name("THREADS"), joining_.identity());
    w.line("sofar = {};", joining_.upto("sofar", "member % 32", "0xffffffffu", "32"));
    if (group_ == Scanners::Chain) {
      write_chain_link(w, joining_, region_.name);
    } else {
      w.line("turn = 1 - turn;");
    }
    {
      const auto loop = w.unrolled(each);
      write_column(w, lanes);
      w.line("const int place = u * ({} / 32) + warp;", name("THREADS"));
      w.line("{} before = {};", joining_.type(),
             joining_.from_lane("sofar", "place == 0 ? 0 : place - 1", "0xffffffffu", "32"));
      w.line("before = place == 0 ? carry : {};", joining_.join("carry", "before"));
      w.line("const {} below = {};", joining_.type(),
             joining_.from_below("upto[u]", "1", "0xffffffffu", "32"));
      w.line("if (member % 32 != 0) before = {};", joining_.join("before", "below"));
      write_outputs(w, "runs[u]", end);
    }
    if (group_ == Scanners::Chain) return;
    w.line("carry = {};",
           joining_.join("carry", joining_.from_lane("sofar", "31", "0xffffffffu", "32")));
  }

  void write_outputs(CudaWriter& w, const std::string& run, const std::string& end) {
    const auto inside =
        w.block("if ({}column < {})", group_ == Scanners::Split ? "!kTotals && " : "", end);
    w.raw(pack_out_);
    const auto fill = [&] {
      const std::string own = fmt::format("{}[{}]", run, step());
      const std::string last = fmt::format("{0}[{1} == 0 ? 0 : {1} - 1]", run, step());
      const std::string now =
          scans_.first->attrs.exclusive
              ? fmt::format("{} == 0 ? before : {}", step(), joining_.join("before", last))
              : joining_.join("before", own);
      w.line("const {} now = {};", joining_.type(), now);
      w.raw(lane_out_);
    };
    packs_.write_stores(w, [&] { write_elements(w, fill); });
  }

  void write_total(CudaWriter& w) {
    const auto last = w.block("if (kTotals && threadIdx.x == 0)");
    w.line("totals[row * parts + part] = {};", joining_.value("carry"));
    if (joining_.has_place()) w.line("places[row * parts + part] = {};", joining_.place("carry"));
  }

  std::string summary() const {
    const std::string who = group_ == Scanners::Warp    ? name("LANES") + " threads scan a row"
                            : group_ == Scanners::Block ? "a block scans a row"
                                                        : "a block scans a part of a row";
    return fmt::format("{}: {}, {} packs of kVec elements per thread and tile.", kernel_.results(),
                       who, name("UNROLL"));
  }

  void add_plan(const DeviceFunction& function) {
    const int64_t vec = packs_.packed() ? packs_.width() : 1;
    using Values = std::vector<int64_t>;
    const bool warp = group_ == Scanners::Warp;
    kernel_.method(warp ? "latency.warp_shuffle_sync" : "latency.reduce_sync_count");
    kernel_.vectors(vec > 1 ? Values{vec, 1} : Values{1});
    add_threads((loop_.length().value() + vec - 1) / vec);
    kernel_.method_of("compute.ilp_unroll_register_tile", "UNROLL");
    kernel_.method("compute.warp_shuffle");
    if (group_ == Scanners::Split) add_parts();
    if (group_ == Scanners::Chain) add_chain();
    kernel_.each_variant(packs_.packed(), packs_, as_factor(loop_.length()),
                         [&](const Instance& instance) { return launches(function, instance); });
  }

  /// `packs` is the number of packs of a row.
  void add_threads(int64_t packs) {
    using Values = std::vector<int64_t>;
    if (group_ != Scanners::Warp) {
      const bool longer = packs > 256 * 2;
      kernel_.tune("THREADS", longer ? Values{256, 512, 128} : Values{128, 256, 64});
      kernel_.tune("UNROLL", longer ? Values{4, 2, 1} : Values{2, 1},
                   fmt::format("{} * {} <= 1024", name("THREADS"), name("UNROLL")));
      return;
    }
    int64_t lanes = 4;
    while (lanes < 32 && lanes < packs) lanes *= 2;
    kernel_.tune("THREADS", context_.alone ? Values{256, 128} : Values{256});
    kernel_.tune("LANES", context_.alone && lanes > 4 ? Values{lanes, lanes / 2} : Values{lanes});
    const int64_t steps = std::max<int64_t>(1, packs / lanes);
    kernel_.tune("UNROLL", steps >= 4 ? Values{4, 2, 1} : Values{1, 2});
  }

  void add_totals(const std::string& extent) {
    kernel_.scratch(totals(), joining_.dtype(), extent);
    if (joining_.has_place()) kernel_.scratch(places(), DType::Int64, extent);
  }

  void add_parts() {
    const std::string rows = as_factor(loop_.rows());
    cut_rows(kernel_, as_factor(loop_.length()),
             fmt::format("{} * {} * {}", name("THREADS"), name("UNROLL"), name("VEC")), rows);
    add_totals(fmt::format("{} * {}", rows, name("PARTS")));
  }

  std::string chained_parts(const std::string& vec) const {
    return fmt::format("{} * ceil_div({}, {} * {} * {})", as_factor(loop_.rows()),
                       loop_.length().text(), name("THREADS"), name("UNROLL"), vec);
  }

  void add_chain() {
    const std::string most = chained_parts("1");
    add_totals("2 * " + most);
    kernel_.scratch(scratch_name(region_, "ticket"), DType::Uint32, "1", "= 0");
    kernel_.scratch(scratch_name(region_, "flags"), DType::Uint32, most, "= 0");
    kernel_.method("memory.kernel_fusion");
  }

  std::vector<Launch> launches(const DeviceFunction& function, const Instance& instance) const {
    const std::string threads = name("THREADS"), rows = loop_.rows().text();
    if (group_ == Scanners::Split) {
      const std::string grid = fmt::format("{} * {}", as_factor(loop_.rows()), name("PARTS"));
      return {function.launch(instance.types() + ", true", grid, threads),
              function.launch(instance.types() + ", false", grid, threads)};
    }
    std::string grid = rows;
    if (group_ == Scanners::Chain) grid = chained_parts(instance.vec);
    if (group_ == Scanners::Warp)
      grid = fmt::format("ceil_div({}, {} / {})", rows, threads, name("LANES"));
    return {function.launch(instance.types(), grid, threads)};
  }

  Scanners group_;
  Scans scans_;
  Joining joining_;
  std::string lane_in_, pack_in_, lane_out_, pack_out_;
};

/// Whether there are too few rows to fill the device with a block each.
bool few_rows(const RowLoop& loop, const TargetContext& context) {
  return loop.rows().value() < 2 * context.target.default_sms && loop.length().value() >= 16384;
}

bool scan_applies(const Region& region, const TargetContext&) {
  const auto scans = scans_of(region);
  return scans && !needs_order(*scans) && !loop_of(region, *scans).rows_are_adjacent();
}

bool scan_split_applies(const Region& region, const TargetContext& context) {
  return scan_applies(region, context) && few_rows(loop_of(region, *scans_of(region)), context);
}

bool scan_chain_applies(const Region& region, const TargetContext& context) {
  if (!scan_split_applies(region, context)) return false;
  const auto scans = scans_of(region);
  const bool adds = scans->kind != Joining::Kind::Max && scans->kind != Joining::Kind::Min;
  return !(adds && tensor::is_float(scans->first->dtype) && context.precision.deterministic);
}

}  // namespace

Schedules scan_schedules() {
  return {{"scan_chain", "several blocks scan a row and hand their totals on", scan_chain_applies,
           emit_by<RowScan, Scanners::Chain>},
          {"scan_split", "several blocks scan a row, after its parts' totals", scan_split_applies,
           emit_by<RowScan, Scanners::Split>},
          {"scan_warp", "a warp or a part of one scans a row", scan_applies,
           emit_by<RowScan, Scanners::Warp>},
          {"scan_block", "a block scans a row", scan_applies, emit_by<RowScan, Scanners::Block>}};
}

}  // namespace kw::generate
