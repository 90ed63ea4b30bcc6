// The problem: find the k best of a row without sorting it. The choice: a warp per row, with the
// row's keys in registers. The k-th best of the lanes' own bests is a limit that at least k
// elements reach and few others do; those are ranked against each other. Rows with too many such
// elements (many equals, sorted runs) take the best one k times.
//
// Alternatives: in a heap per thread, inserting diverges at other times in every lane; here all
// lanes run the same code. In a radix select, similar floats share their high bits, so one bin of
// the histogram gets most elements. The cost: rows are limited to kLongestRow keys.
#include <fmt/core.h>

#include <algorithm>

#include "emit/emit.h"
#include "scans/schedules.h"
#include "scans/selection.h"
#include "scans/sort.h"

namespace kw::generate {

namespace {

constexpr int64_t kMostWanted = 128;
constexpr int64_t kLongestRow = 32 * 128;  // keys of a lane: registers
constexpr int kPool = 256;                 // candidates of a warp

class TopK : RowFrame {
 public:
  TopK(const Region& region, const TargetContext& context)
      : RowFrame(region, context, loop_of(region, *selection_of(region))),
        selection_(*selection_of(region)) {}

  bool serves() {
    write_values();
    return follows_;
  }

  Kernel emit() {
    write_values();
    const std::string body = write_body();
    kernel_.device(key_function(region_, selection_, true) + "\n" + limit_text());
    const DeviceFunction function =
        kernel_.function(e_, kernel_.result() + ": a warp finds the best of a row.", region_.name,
                         "typename Index, int kVec, int kSteps", name("THREADS"), body);
    kernel_.need({"load_pack"});
    add_plan(function);
    return kernel_.finish();
  }

 private:
  int64_t wanted() const { return selection_.count().value(); }
  /// The bests per lane: over the warp at least twice the number of results.
  int64_t bests() const { return wanted() <= 16 ? 1 : wanted() <= 64 ? 4 : 8; }

  // Scopes: 1 is the row, 2 a pack, 3 an element of it.
  void write_values() {
    open_row();
    open_pack(2);
    const Value in = e_.value(selection_.input, loop_.index());
    e_.at(lane_scope_).line("own_keys[u][lane] = {}_key({});", region_.name, in.expr.text);
    lane_text_ = e_.close();
    pack_text_ = e_.close();
    e_.on_load = nullptr;
    e_.rename = loop_.rename(variable(loop_.along().empty() ? "column" : loop_.along()));
    CudaWriter results(1);
    follows_ = SelectionResults(region_, selection_, loop_)
                   .write(e_, 1, "ranked[warp][@]", results, "member", "32");
    result_text_ = results.text();
    row_text_ = e_.close();
  }

  std::string write_body() {
    CudaWriter w(1);
    w.raw(e_.at(0).text());
    const std::string warps = fmt::format("({} / 32)", name("THREADS"));
    w.line("constexpr int kWanted = {}, kPool = {};", wanted(), kPool);
    w.line("__shared__ unsigned long long pool[{}][kPool];", warps);
    w.line("__shared__ unsigned int ranked[{}][kWanted];", warps);
    w.line("const int member = threadIdx.x % 32, warp = threadIdx.x / 32;");
    w.line("const Index row = static_cast<Index>(blockIdx.x) * {} + warp;", warps);
    w.line("if (row >= {}) return;", rows_);
    loop_.write_row(e_, w);
    w.raw(row_text_);
    write_keys(w);
    w.line("const unsigned int limit = {}_limit<kWanted>(bests);", region_.name);
    write_pool(w);
    write_ranks(w);
    w.raw(result_text_);
    return w.text();
  }

  static constexpr const char* kEach = "for (int u = 0; u < kSteps; ++u)";
  static constexpr const char* kColumn = "const int column = (u * 32 + member) * kVec;";

  void write_keys(CudaWriter& w) {
    for (const PackLoad& load : packs_.loads())
      w.line("Pack<{}, kVec> {}[kSteps];", memory_type(load.buffer.dtype), load.name);
    w.line("unsigned int own_keys[kSteps][kVec] = {};");
    if (!packs_.loads().empty()) {
      const auto steps = w.unrolled(kEach);
      w.line(kColumn);
      const auto inside = w.block("if (column < {})", length_);
      packs_.write_loads(w);
    }
    w.line("unsigned int bests[{}] = {{}};", bests());
    const auto steps = w.unrolled(kEach);
    w.line(kColumn);
    const auto inside = w.block("if (column < {})", length_);
    w.raw(pack_text_);
    const auto lanes = w.unrolled("for (int lane = 0; lane < kVec; ++lane)");
    w.raw(lane_text_);
    w.line("unsigned int& best = bests[(u * kVec + lane) % {}];", bests());
    w.line("best = best > own_keys[u][lane] ? best : own_keys[u][lane];");
  }

  /// Device code for the limit that few elements reach.
  std::string limit_text() const {
    CudaWriter w;
    w.comment(
        "The largest limit, to 16 bits, that as many of the lanes' bests reach as are wanted.");
    w.line("template <int kWanted, int kBests>");
    w.line("__device__ __forceinline__ unsigned int");
    {
      const auto function = w.block("{}_limit(const unsigned int (&bests)[kBests])", region_.name);
      w.line("unsigned int limit = 0;");
      {
        const auto bits = w.block("for (unsigned int bit = 1u << 31; bit >= 1u << 16; bit >>= 1)");
        w.line("int reach = 0;");
        {
          const auto each = w.unrolled("for (int b = 0; b < kBests; ++b)");
          w.line("reach += __popc(__ballot_sync(0xffffffffu, bests[b] >= (limit | bit)));");
        }
        w.line("if (reach >= kWanted) limit |= bit;");
      }
      w.line("return limit;");
    }
    w.line("");
    w.comment("The largest of a warp's numbers, in every lane.");
    w.line("__device__ __forceinline__ unsigned long long");
    {
      const auto function = w.block("{}_largest(unsigned long long item)", region_.name);
      {
        const auto shuffles = w.unrolled("for (int by = 16; by > 0; by /= 2)");
        w.line("const unsigned long long beside = __shfl_xor_sync(0xffffffffu, item, by);");
        w.line("item = beside > item ? beside : item;");
      }
      w.line("return item;");
    }
    return w.text() + "\n";
  }

  void write_pool(CudaWriter& w) const {
    w.comment("Key and place as one number; of equal keys the first place is the better one.");
    w.line("int found = 0;");
    const auto steps = w.unrolled(kEach);
    const auto lanes = w.unrolled("for (int lane = 0; lane < kVec; ++lane)");
    w.line("const unsigned int column = (u * 32 + member) * kVec + lane;");
    w.line("const bool reaches = column < {} && own_keys[u][lane] >= limit;", length_);
    w.line("const unsigned int all = __ballot_sync(0xffffffffu, reaches);");
    w.line("if (all == 0) continue;");
    w.line("const int to = found + __popc(all & ((1u << member) - 1u));");
    w.line(
        "if (reaches && to < kPool) pool[warp][to] = "
        "static_cast<unsigned long long>(own_keys[u][lane]) << 32 | ~column;");
    w.line("found += __popc(all);");
  }

  void write_ranks(CudaWriter& w) const {
    w.line("__syncwarp();");
    {
      const auto few = w.block("if (found <= kPool)");
      const auto own = w.block("for (int c = member; c < found; c += 32)");
      w.line("int rank = 0;");
      w.line(
          "for (int other = 0; other < found; ++other) rank += pool[warp][other] > "
          "pool[warp][c];");
      w.line("if (rank < kWanted) ranked[warp][rank] = ~static_cast<unsigned int>(pool[warp][c]);");
    }
    {
      const auto many = w.block("else");
      w.line("unsigned long long last = ~0ull;");
      const auto each = w.block("for (int rank = 0; rank < kWanted; ++rank)");
      w.line("unsigned long long next = 0;");
      {
        const auto steps = w.unrolled(kEach);
        const auto lanes = w.unrolled("for (int lane = 0; lane < kVec; ++lane)");
        w.line("const unsigned int column = (u * 32 + member) * kVec + lane;");
        w.line(
            "const unsigned long long item = "
            "static_cast<unsigned long long>(own_keys[u][lane]) << 32 | ~column;");
        w.line("if (column < {} && item < last && item > next) next = item;", length_);
      }
      w.line("next = {}_largest(next);", region_.name);
      w.line("if (member == 0) ranked[warp][rank] = ~static_cast<unsigned int>(next);");
      w.line("last = next;");
    }
    w.line("__syncwarp();");
  }

  void add_plan(const DeviceFunction& function) {
    const int64_t vec = packs_.width(4);
    kernel_.tune("THREADS", {128, 64, 256});
    if (vec > 1) kernel_.vectors({vec, 1});
    kernel_.method("latency.warp_shuffle_sync");
    const std::string grid =
        fmt::format("ceil_div({}, {} / 32)", loop_.rows().text(), name("THREADS"));
    const auto launches = [&](const Instance& instance) -> std::vector<Launch> {
      return {function.launch(instance.types() + ", " + steps(instance), grid, name("THREADS"))};
    };
    kernel_.each_variant(vec > 1, packs_, length(), launches,
                         fmt::format("{} <= {}", length(), kLongestRow));
    Region longer = region_;
    longer.name += "_sorted";
    add_sort(longer, context_, kernel_);
  }

  /// The number of steps along a row: a power of two, so that few kernels are compiled.
  std::string steps(const Instance& instance) {
    const std::string count = fmt::format("ceil_div({}, 32 * {})", length(), instance.vec);
    std::string steps = fmt::format("pick(({} > 1)", count);
    for (const int limit : {2, 4, 8, 16, 32, 64})
      steps += fmt::format(" + ({} > {})", count, limit);
    return kernel_.let(instance.packed ? "STEPS" : "STEPS_OF_ONE",
                       steps + ", 1, 2, 4, 8, 16, 32, 64, 128)");
  }

  std::string length() const { return as_factor(loop_.length()); }

  Selection selection_;
  bool follows_ = true;
  std::string result_text_;
};

bool top_k_applies(const Region& region, const TargetContext& context) {
  const auto selection = selection_of(region);
  if (!selection || selection->stable || has_wide_keys(region, *selection)) return false;
  const Dim& count = selection->count();
  const Dim& length = region.node(selection->input).shape[selection->axis()];
  if (!count.is_constant() || count.value() > kMostWanted || count.value() < 1) return false;
  return length.value() <= kLongestRow && TopK(region, context).serves();
}

}  // namespace

Schedules top_k_schedules() {
  return {{"top_k", "a warp keeps a row's keys and ranks the best", top_k_applies, emit_by<TopK>}};
}

}  // namespace kw::generate
