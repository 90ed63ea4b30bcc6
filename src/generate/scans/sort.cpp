// The problem: sorts, and selections too large for top_k, have any length. The choice: a block
// sorts as many keys as fit its shared memory by bitonic exchange. Longer rows are sorted in such
// tiles and merged pass by pass; every element finds its new position by a search in the adjacent
// run. Keys contain their positions, so that no two are equal and equal elements keep their order.
// The alternative, a radix sort, needs a histogram per digit. The cost: long rows are read and
// written once per merge.
#include "scans/sort.h"

#include <fmt/core.h>

#include "emit/emit.h"
#include "scans/schedules.h"
#include "scans/selection.h"

namespace kw::generate {

namespace {

constexpr int kMergeThreads = 256;
constexpr int kMostPasses = 30;
constexpr int64_t kTile = 2048;  // elements of a run before the first merge

class Sort {
 public:
  Sort(const Region& region, bool alone)
      : region_(region),
        alone_(alone),
        selection_(*selection_of(region)),
        loop_(loop_of(region, selection_)) {}

  bool serves() {
    Emitter e = emitter(region_);
    e.open(loop_.row_variables(), 0, 0);
    CudaWriter w(1);
    return SelectionResults(region_, selection_, loop_).write(e, 1, "0", w, "0", "1");
  }

  void add_to(KernelBuilder& kernel) {
    kernel.device(key_function(region_, selection_, false) + "\n" + item_text());
    add_lets(kernel);
    const DeviceFunction tile = write_tile(kernel);
    write_merge(kernel);
    const DeviceFunction results = write_results(kernel);
    add_variants(kernel, tile, results);
  }

 private:
  Emitter emitter(const Region& region) const {
    Emitter e(region, 1);
    e.ranges = loop_.ranges();
    return e;
  }
  std::string name(const char* text) const { return text + region_.suffix; }
  bool wide() const { return has_wide_keys(region_, selection_); }
  /// Capacity of a block that sorts a whole row, in items of 8 or 16 bytes: 32 KiB.
  int64_t capacity() const { return wide() ? 2048 : 4096; }
  std::string item() const { return region_.name + "_item<Index>"; }
  std::string length() const { return as_factor(loop_.length()); }
  std::string buffer(const char* which) const { return scratch_name(region_, which); }

  std::string item_text() const {
    CudaWriter w;
    w.line("template <typename Index>");
    {
      const auto type = w.definition(fmt::format("struct {}_item", region_.name));
      w.line(wide() ? "unsigned long long key;" : "unsigned int key;");
      w.line("Index place;");
    }
    w.line("template <typename Index>");
    {
      const auto function =
          w.block("__device__ __forceinline__ bool operator<(const {0}& a, const {0}& b)", item());
      w.line("return a.key < b.key || (a.key == b.key && a.place < b.place);");
    }
    w.line("");
    return w.text();
  }

  void add_lets(KernelBuilder& kernel) const {
    std::string size = "pick(0", sizes;
    for (int64_t s = 32; s <= capacity(); s *= 2) {
      if (s < capacity()) size += fmt::format(" + ({} > {})", length(), s);
      sizes += fmt::format(", {}", s);
    }
    std::string passes = "0";
    for (int b = 0; b < kMostPasses; ++b)
      passes += fmt::format(" + (ceil_div({}, {}) > {})", length(), kTile, int64_t{1} << b);
    kernel.let("SORT_SIZE", size + sizes + ")");
    kernel.let("SORT_PASSES", passes);
    kernel.tune("SORT_THREADS", {256, 512, 128});
    kernel.method("memory.tiling_smem");
    // Words of 8 bytes. With other kernels in the module, any variant may run at any shape.
    const std::string fits = fits_int(region_);
    const bool two = wide() || !alone_;
    const std::string words = two ? "2" : fits.empty() ? "1" : fmt::format("pick({}, 2, 1)", fits);
    std::string extent = fmt::format("{} * {} * {}", words, as_factor(loop_.rows()), length());
    if (alone_) extent = fmt::format("pick({} > {}, 1, {})", length(), capacity(), extent);
    kernel.scratch(buffer("items"), DType::Uint64, extent);
    kernel.scratch(buffer("merged"), DType::Uint64, extent);
  }

  /// Sorts kSize elements. Writes the results if that is the whole row, otherwise the sorted run.
  DeviceFunction write_tile(KernelBuilder& kernel) {
    Emitter e = emitter(region_);
    e.rename = loop_.rename(variable("column"));
    e.open(loop_.row_variables(), 0, 0);
    const std::string n = e.text(loop_.length());
    e.note(loop_.rows());
    const int scope = e.open(loop_.element_variables("column"), 1, 2);
    const Value in = e.value(selection_.input, loop_.index());
    e.at(scope).line("items[i] = {{{}_key({}), column}};", region_.name, in.expr.text);
    const std::string element = e.close();
    e.rename = loop_.rename(variable(loop_.along().empty() ? "column" : loop_.along()));
    CudaWriter results(2);
    SelectionResults(region_, selection_, loop_)
        .write(e, 1, "items[@].place", results, "threadIdx.x", name("SORT_THREADS"));
    const std::string row = e.close();

    CudaWriter w(1);
    w.raw(e.at(0).text());
    w.line("__shared__ {} items[kSize];", item());
    w.line("const Index tiles = ({} + kSize - 1) / kSize;", n);
    w.line("const Index row = blockIdx.x / tiles, start = blockIdx.x % tiles * kSize;");
    loop_.write_row(e, w);
    w.raw(row);
    w.comment("The last tile of a row may need less.");
    w.line("int size = kSize;");
    w.line("while (!kWhole && size > 2 && size / 2 >= {} - start) size /= 2;", n);
    {
      const auto load = w.block(each("i", "size"));
      w.line("const Index column = start + i;");
      w.line(
          "items[i] = {static_cast<decltype(items[i].key)>(~0ull), "
          "static_cast<Index>(~0ull >> (65 - 8 * sizeof(Index)))};");
      const auto inside = w.block("if (column < {})", n);
      w.raw(element);
    }
    w.line("__syncthreads();");
    write_exchanges(w);
    {
      const auto whole = w.block("if constexpr (kWhole)");
      w.raw(results.text());
    }
    {
      const auto part = w.block("else");
      const auto copy = w.block(each("i", "size"));
      w.line("if (start + i < {0}) static_cast<{1}*>(sorted)[row * {0} + start + i] = items[i];", n,
             item());
    }
    return kernel.function(e, kernel.result() + ": a block sorts kSize elements of a row.",
                           region_.name, "typename Index, int kSize, bool kWhole",
                           name("SORT_THREADS"), w.text(), {{"void* sorted", buffer("items")}});
  }

  std::string each(const char* variable, const char* end) const {
    return fmt::format("for (int {0} = threadIdx.x; {0} < {1}; {0} += {2})", variable, end,
                       name("SORT_THREADS"));
  }

  void write_exchanges(CudaWriter& w) const {
    const auto runs = w.block("for (int run = 2; run <= size; run *= 2)");
    const auto steps = w.block("for (int by = run / 2; by > 0; by /= 2)");
    {
      const auto pairs = w.block(each("pair", "size / 2"));
      w.line("const int low = 2 * pair - (pair & (by - 1)), high = low + by;");
      w.line("const {} a = items[low], b = items[high];", item());
      const auto swap = w.block("if ((b < a) == ((low & run) == 0))");
      w.line("items[low] = b;");
      w.line("items[high] = a;");
    }
    w.line("__syncthreads();");
  }

  /// One pass: runs of `width` elements become runs of twice that length.
  void write_merge(KernelBuilder& kernel) const {
    CudaWriter w;
    w.line("");
    w.comment("Every element of a sorted run finds its place in the run joined with the next one.");
    w.line("template <typename Index>");
    {
      const auto function = w.block(
          "__global__ void __launch_bounds__({}) {}_merge(const void* from, void* to, Index count, "
          "Index length, int pass)",
          kMergeThreads, region_.name);
      w.line("const Index i = static_cast<Index>(blockIdx.x) * {} + threadIdx.x;", kMergeThreads);
      w.line("if (i >= count) return;");
      w.line("const Index width = static_cast<Index>({}) << pass;", kTile);
      w.line("const Index column = i % length, own = column / width, beside = own ^ 1;");
      w.line("const {0}* row = static_cast<const {0}*>(from) + (i - column);", item());
      w.line("const {} item = row[column];", item());
      w.line("const Index first = beside > (length - 1) / width ? length : beside * width;");
      w.line("Index low = first, high = length - first < width ? length : first + width;");
      {
        const auto search = w.block("while (low < high)");
        w.line("const Index middle = low + (high - low) / 2;");
        w.line("const bool above = row[middle] < item;");
        w.line("low = above ? middle + 1 : low;");
        w.line("high = above ? high : middle;");
      }
      w.line("const Index start = (own & ~static_cast<Index>(1)) * width;");
      w.line(
          "static_cast<{}*>(to)[i - column + start + column - own * width + low - first] = item;",
          item());
    }
    kernel.device(w.text());
  }

  DeviceFunction write_results(KernelBuilder& kernel) {
    Emitter e = emitter(region_);
    e.rename = loop_.rename(variable(loop_.along().empty() ? "column" : loop_.along()));
    e.open(loop_.row_variables(), 0, 0);
    const std::string n = e.text(loop_.length());
    e.note(loop_.rows());
    CudaWriter results(1);
    SelectionResults(region_, selection_, loop_)
        .write(e, 1, fmt::format("items[row * {} + @].place", n), results,
               fmt::format("blockIdx.x % blocks * {} + threadIdx.x", kMergeThreads),
               fmt::format("blocks * {}", kMergeThreads));
    const std::string row = e.close();
    CudaWriter w(1);
    w.raw(e.at(0).text());
    w.line("const Index row = blockIdx.x / blocks;");
    w.line("const {0}* items = static_cast<const {0}*>(sorted);", item());
    loop_.write_row(e, w);
    w.raw(row);
    w.raw(results.text());
    return kernel.function(
        e, kernel.result() + ": what stands where in the sorted row.", region_.name + "_results",
        "typename Index", std::to_string(kMergeThreads), w.text(),
        {{"const void* sorted", fmt::format("pick({} % 2, {}, {})", name("SORT_PASSES"),
                                            buffer("items"), buffer("merged"))},
         {"Index blocks", results_blocks()}});
  }

  std::string results_blocks() const {
    return fmt::format("max(1, min(1024, ceil_div({}, {})))", selection_.count().text(),
                       kMergeThreads);
  }

  void add_variants(KernelBuilder& kernel, const DeviceFunction& tile,
                    const DeviceFunction& results) const {
    kernel.variant({fmt::format("{} <= {}", length(), capacity()), fits_int(region_)},
                   {tile.launch(fmt::format("int, {}, true", name("SORT_SIZE")),
                                loop_.rows().text(), name("SORT_THREADS"))});
    kernel.each_index(
        [&](const Instance& instance) { return merged(instance.index, tile, results); });
  }

  std::vector<Launch> merged(const std::string& index, const DeviceFunction& tile,
                             const DeviceFunction& results) const {
    const std::string rows = as_factor(loop_.rows()), pass = name("pass");
    const std::string elements = fmt::format("{} * {}", rows, length());
    const std::string threads = std::to_string(kMergeThreads);
    const DeviceFunction merge = {
        region_.name + "_merge",
        {fmt::format("pick({} % 2, {}, {})", pass, buffer("items"), buffer("merged")),
         fmt::format("pick({} % 2, {}, {})", pass, buffer("merged"), buffer("items")), elements,
         length(), pass}};
    Launch pairs =
        merge.launch(index, fmt::format("ceil_div({}, {})", elements, kMergeThreads), threads);
    pairs.repeat = fmt::format("{} in 0..{}", pass, name("SORT_PASSES"));
    return {tile.launch(fmt::format("{}, {}, false", index, kTile),
                        fmt::format("{} * ceil_div({}, {})", rows, length(), kTile),
                        name("SORT_THREADS")),
            pairs, results.launch(index, fmt::format("{} * {}", rows, results_blocks()), threads)};
  }

  const Region& region_;
  bool alone_;
  Selection selection_;
  RowLoop loop_;
};

bool sort_applies(const Region& region, const TargetContext& context) {
  return selection_of(region) && Sort(region, context.alone).serves();
}

}  // namespace

void add_sort(const Region& region, const TargetContext& context, KernelBuilder& kernel) {
  Sort(region, context.alone).add_to(kernel);
}

Schedules sort_schedules() {
  return {{"sort", "a block sorts a row, or a tile of it that is merged", sort_applies,
           [](const Region& region, const TargetContext& context) {
             KernelBuilder kernel(region, context);
             add_sort(region, context, kernel);
             return kernel.finish();
           }}};
}

}  // namespace kw::generate
