// Matrix products on CUDA cores: a block computes a tile, every thread 8 x 8 of it in registers.
// The next tiles of the operands travel to registers while the present ones are multiplied from
// shared memory, which has two buffers, so that one barrier per step is enough. Steps that k fills
// ask for nothing but their elements; the last ones have a loop of their own. Results go through
// shared memory, so that neighbouring threads store neighbours. Where tiles are too few to fill the
// device, several blocks share one along k, and a second launch adds what they found.
#include "moves/matmul.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "moves/matmul_operand.h"
#include "moves/schedules.h"
#include "moves/words.h"

namespace kw::moves {

using tensor::DType;

namespace {

class Tiled {
 public:
  /// `switches`: a thread's tile can be smaller (SIDE), and nothing fetched ahead (AHEAD).
  Tiled(const Region& region, bool split, bool switches)
      : region_(region),
        split_(split),
        switches_(switches),
        product_(*product_of(region)),
        e_(region, 1),
        sides_{{region, product_, true, sum_dtype()}, {region, product_, false, sum_dtype()}} {
    product_.prepare(e_);
  }

  Kernel emit() {
    write_values();
    const std::string body = write_body();
    Kernel kernel;
    std::vector<std::pair<std::string, std::string>> more = {
        {"Index chunk", split_ ? name("CHUNK") : fmt::format("max(1, {})", product_.k().text())}};
    if (split_) more.emplace_back(sum_type() + "* sums", sums());
    const Head head =
        head_of(e_, region_.name, "typename Index, int kLeftVec, int kRightVec", bounds(), more);
    kernel.functions = e_.functions();
    kernel.functions.insert("Pack");
    if (sides_[0].packed() || sides_[1].packed()) kernel.functions.insert("load_pack");
    kernel.source = multiply_text() + summary() + head.text + " {\n" + body + "}\n";
    add_plan(kernel, head);
    if (split_) Tiled(region_, true, false).add_finish(kernel);
    return kernel;
  }

 private:
  std::string name(const char* text) const { return text + region_.suffix; }
  std::string sums() const { return scratch_name(region_, "sums"); }
  /// What products are added up in: as wide as the result, fp32 for halves.
  DType sum_dtype() const {
    const DType dtype = product_.node().dtype;
    return in_float(dtype) ? DType::Fp32 : dtype;
  }
  std::string sum_type() const { return register_type(sum_dtype()); }
  std::string threads() const {
    const std::string side = name("SIDE");
    return fmt::format("{} * {} / {}", name("TILE_M"), name("TILE_N"),
                       switches_ ? fmt::format("({0} * {0})", side) : "64");
  }
  /// With room for as many threads of one multiprocessor in its registers.
  std::string bounds() const {
    return fmt::format("{},\n{}1 + ({} * {} - 1) / ({} * {})", threads(), std::string(34, ' '),
                       name("RESIDENT"), switches_ ? fmt::format("{0} * {0}", name("SIDE")) : "64",
                       name("TILE_M"), name("TILE_N"));
  }
  /// The side of a thread's tile, and its square.
  std::string edge() const { return switches_ ? "kSide" : "8"; }
  std::string square() const { return switches_ ? "kSide * kSide" : "64"; }

  // Scopes: 1 is the block's place, 2 one element.
  void write_values() {
    e_.open(product_.batch().variables(), 0, 0);
    for (const Dim& extent : {product_.m(), product_.n(), product_.k()}) e_.note(extent);
    e_.note(product_.batches());
    for (Staged& side : sides_) side.prepare(e_);
    if (split_) {
      result_ = fmt::format("sums[((blockIdx.y * {} + batch) * {} + mi) * {} + ni] = total;\n",
                            as_factor(product_.batches()), as_factor(product_.m()),
                            as_factor(product_.n()));
    } else {
      const int scope = e_.open(result_variables(), 1, 3);
      product_.write_stores(e_, scope, "total");
      result_ = e_.close();
    }
    block_text_ = e_.close();
  }

  std::vector<std::string> result_variables() const {
    std::vector<std::string> names = product_.result().row.variables();
    const std::vector<std::string> columns = product_.result().column.variables();
    names.insert(names.end(), columns.begin(), columns.end());
    return names;
  }

  std::string write_body() {
    CudaWriter w(1);
    w.raw(e_.at(0).text());
    const std::string m = product_.m().text(), n = product_.n().text();
    if (switches_) w.line(fmt::format("constexpr int kSide = {};", name("SIDE")));
    w.line(fmt::format("constexpr int kM = {}, kN = {}, kK = {}, kThreads = kM * kN / ({});",
                       name("TILE_M"), name("TILE_N"), name("TILE_K"), square()));
    // 4 x 8 threads of a warp read 64 and 128 bytes of shared memory at once.
    w.line(fmt::format(
        "constexpr int kLanesM = kM < 4 * {0} ? kM / {0} : kN < 8 * {0} ? 32 * {0} / kN : 4;",
        edge()));
    w.line(fmt::format("constexpr int kLanesN = 32 / kLanesM, kWide = {} * kLanesN;", edge()));
    for (const Staged& side : sides_) side.write_shared(w);
    w.line(fmt::format("__shared__ __align__(16) {} results[{} * kThreads];", sum_type(), edge()));
    w.line(fmt::format("const Index tiles_m = ({} + kM - 1) / kM, tiles_n = ({} + kN - 1) / kN;", m,
                       n));
    w.line("const Index batch = blockIdx.x / (tiles_m * tiles_n);");
    w.line("const Index first_m = blockIdx.x / tiles_n % tiles_m * kM;");
    w.line("const Index first_n = blockIdx.x % tiles_n * kN;");
    w.line("const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;");
    w.line(fmt::format("const int warp_m = warp / (kN / kWide) * ({} * kLanesM);", edge()));
    w.line("const int warp_n = warp % (kN / kWide) * kWide;");
    w.line("const int row = warp_m + lane / kLanesN * 4, column = warp_n + lane % kLanesN * 4;");
    w.line("const Index begin = blockIdx.y * chunk;");
    w.line(fmt::format("const Index end = {0} - begin < chunk ? {0} : begin + chunk;",
                       product_.k().text()));
    product_.batch().write(e_, w);
    w.raw(block_text_);
    for (const Staged& side : sides_) side.write_places(w, e_);
    w.line(fmt::format("{0} total[{1}][{1}] = {{}};", sum_type(), edge()));
    write_steps(w);
    write_results(w);
    return w.text();
  }

  void write_steps(CudaWriter& w) {
    const bool tables = sides_[0].lookup() || sides_[1].lookup();
    if (tables) {
      const auto lambda = w.block("const auto look_up = [&](Index from, int to)", ";");
      for (const Staged& side : sides_) {
        if (side.lookup()) side.lookup()->write_rows(w, e_);
      }
    }
    {
      const auto lambda = w.block("const auto fetch = [&](Index from, int turn, bool whole)", ";");
      for (const Staged& side : sides_) side.write_fetch(w, e_);
    }
    {
      const auto lambda = w.block("const auto keep = [&](int to)", ";");
      for (const Staged& side : sides_) side.write_keep(w);
    }
    if (tables) {
      w.line("look_up(begin, 0);");
      w.line("look_up(begin + kK, 1);");
      w.line("__syncthreads();");
    }
    w.line("fetch(begin, 0, false);");
    w.line("keep(0);");
    w.line("__syncthreads();");
    w.line("int turn = 0;");
    w.line("Index start = begin;");
    write_loop(w, "start + 2 * kK <= end", "kK", tables, true);
    write_loop(w, "start < end", "2", tables, false);
  }

  /// One of the loops over k. `whole`: there is a next step and k fills it.
  void write_loop(CudaWriter& w, const char* condition, const char* unroll, bool tables,
                  bool whole) {
    const auto loop = w.block(fmt::format("for (; {}; start += kK, turn ^= 1)", condition));
    const std::string more = whole ? "" : "if (start + kK < end) ";
    const std::string fetch =
        fmt::format("fetch(start + kK, turn ^ 1, {});", whole ? "true" : "false");
    const std::string ahead = name("AHEAD");
    if (!switches_) {
      w.line(more + fetch);
    } else {
      w.line(fmt::format("if ({}{}) {}", ahead, whole ? "" : " && start + kK < end", fetch));
    }
    if (tables && whole) w.line("look_up(start + 2 * kK, turn);");
    w.line(fmt::format(
        "{}_multiply<{}, kLanesM, kLanesN>(left[turn], right[turn], row, column, total);",
        region_.name, unroll));
    if (switches_) {
      // Behind a barrier, so that no compiler fetches ahead by itself.
      const auto late = w.block(fmt::format("if (!{})", ahead));
      w.line("__syncthreads();");
      w.line(more + fetch);
    }
    w.line(more + "keep(turn ^ 1);");
    w.line("__syncthreads();");
  }

  /// Device code of one step: the thread's 8 x 8 sums take kK products each.
  std::string multiply_text() const {
    CudaWriter w;
    w.comment(switches_ ? "The thread's sums take what one tile of each operand gives."
                        : "The thread's 8 x 8 sums take what one tile of each operand gives.");
    w.line(fmt::format("template <int kUnroll, int kLanesM, int kLanesN, int kK, int kM, int kN{}>",
                       switches_ ? ", int kSide" : ""));
    w.line("__device__ __forceinline__ void");
    {
      const auto function = w.block(fmt::format(
          "{0}_multiply(const {1} (&left)[kK][kM], const {1} (&right)[kK][kN], int row, int "
          "column, {1} (&total)[{2}][{2}])",
          region_.name, sum_type(), edge()));
      w.line(switches_ ? "#pragma unroll" : "#pragma unroll kUnroll");
      const auto steps = w.block("for (int k = 0; k < kK; ++k)");
      w.line(fmt::format("{0} a[{1}], b[{1}];", sum_type(), edge()));
      w.line("#pragma unroll");
      {
        const auto load = w.block(fmt::format("for (int i = 0; i < {}; ++i)", edge()));
        w.line("a[i] = left[k][row + i / 4 * (4 * kLanesM) + i % 4];");
        w.line("b[i] = right[k][column + i / 4 * (4 * kLanesN) + i % 4];");
      }
      w.line("#pragma unroll");
      w.line(fmt::format(
          "for (int i = 0; i < {0}; ++i) total[i / {1}][i % {1}] += a[i / {1}] * b[i % {1}];",
          square(), edge()));
    }
    return w.text() + "\n";
  }

  // A row of each thread at a time: what the warp has of it is read again along columns.
  void write_results(CudaWriter& w) {
    w.line(fmt::format("{}* const own = results + warp * 32 * {};", sum_type(), edge()));
    const auto loop = [&](const char* counter) {
      w.line("#pragma unroll");
      return w.block(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", counter, edge()));
    };
    const auto rows = loop("i");
    {
      const auto columns = loop("other");
      w.line("const int at = other / 4 * (4 * kLanesN) + lane % kLanesN * 4 + other % 4;");
      w.line("own[lane / kLanesN * kWide + at] = total[i][other];");
    }
    w.line("__syncwarp();");
    {
      const auto columns = loop("other");
      w.line("const int at = other * 32 + lane;");
      w.line("const int at_m = warp_m + i / 4 * (4 * kLanesM) + at / kWide * 4 + i % 4;");
      w.line("const Index mi = first_m + at_m, ni = first_n + warp_n + at % kWide;");
      if (!split_) {
        product_.result().row.write(e_, w);
        product_.result().column.write(e_, w);
      }
      w.line(fmt::format("const {} total = own[at];", sum_type()));
      const auto inside =
          w.block(fmt::format("if (mi < {} && ni < {})", product_.m().text(), product_.n().text()));
      if (split_) {
        w.line(std::string(trim(result_)));
      } else {
        w.raw(result_);
      }
    }
    w.line("__syncwarp();");
  }

  std::string summary() const {
    return fmt::format("// {}: a block computes a tile of the product{}.\n",
                       region_.stores[0].to.name, split_ ? " over a part of k" : "");
  }

  void add_plan(Kernel& kernel, const Head& head) {
    add_sizes(kernel);
    kernel.methods.push_back({"memory.tiling_smem", "", ""});
    add_switches(kernel);
    const std::string tiles =
        fmt::format("{} * ceil_div({}, {}) * ceil_div({}, {})", as_factor(product_.batches()),
                    product_.m().text(), name("TILE_M"), product_.n().text(), name("TILE_N"));
    if (split_) add_chunks(kernel, tiles);
    const std::string fits = fits_int(region_);
    const auto variant = [&](const std::string& when, const char* index, bool packs) {
      const auto vec = [&](const Staged& side) { return packs && side.packed() ? side.pack() : 1; };
      kernel.variants.push_back(
          {when,
           {{fmt::format("{}<{}, {}, {}>", region_.name, index, vec(sides_[0]), vec(sides_[1])),
             split_ ? tiles + ", " + name("CHUNKS") : tiles, threads(), "", head.args}}});
    };
    std::vector<std::string> fast;
    for (const Staged& side : sides_) {
      fast.insert(fast.end(), side.conditions().begin(), side.conditions().end());
    }
    fast.push_back(fits);
    if (sides_[0].packed() || sides_[1].packed()) variant(all_of(fast), "int", true);
    if (!fits.empty()) variant(fits, "int", false);
    variant("", fits.empty() ? "int" : "long long", false);
  }

  /// Tiles no larger than the product, where it is narrow; at least a warp's threads.
  void add_sizes(Kernel& kernel) const {
    using Values = std::vector<int64_t>;
    const int64_t m = product_.m().value(), n = product_.n().value();
    const bool wide = tensor::dtype_size(sum_dtype()) > 4;
    const bool small = m * n * product_.batches().value() < 128 * 128 * 132;
    const bool low = m <= 32 && m <= n, narrow = n <= 32 && !low;
    const auto sizes = [&](int64_t extent, bool few, bool other_few) {
      if (wide) return Values{64};
      if (few) return extent <= 16 ? Values{16, 32} : Values{32, 64};
      if (other_few) return Values{128, 64};
      return small || extent <= 64 ? Values{64, 128} : Values{128, 64};
    };
    kernel.tunes.push_back({name("TILE_M"), sizes(m, low, narrow), ""});
    kernel.tunes.push_back(
        {name("TILE_N"), sizes(n, narrow, low),
         low || narrow ? fmt::format("{} * {} >= 2048", name("TILE_M"), name("TILE_N")) : ""});
    kernel.tunes.push_back({name("TILE_K"), {8, 16}, ""});
    // The lower a tile is, the more elements a thread fetches, each in a register.
    const bool lowest = std::min(m, n) <= 16;
    kernel.tunes.push_back({name("RESIDENT"),
                            wide     ? Values{256}
                            : lowest ? Values{256, 512}
                                     : Values{512, 256},
                            ""});
  }

  void add_switches(Kernel& kernel) const {
    const std::string side = name("SIDE"), ahead = name("AHEAD");
    if (switches_) {
      kernel.tunes.push_back({side, {8, 4}, threads() + " <= 1024"});
      kernel.tunes.push_back({ahead, {1, 0}, ""});
    }
    const auto method = [&](const char* id, const std::string& tune, int on, int off) {
      kernel.methods.push_back({id, switches_ ? fmt::format("{} == {}", tune, on) : "",
                                switches_ ? fmt::format("{}={}", tune, off) : ""});
    };
    method("compute.ilp_unroll_register_tile", side, 8, 4);
    method("compute.overlap_compute_memory", ahead, 1, 0);
  }

  void add_chunks(Kernel& kernel, const std::string& tiles) const {
    const std::string k = product_.k().text();
    kernel.lets = {
        {name("WISH"),
         fmt::format("max(1, min(ceil_div({}, 64), ceil_div(SMS * 2, max(1, {}))))", k, tiles)},
        {name("CHUNK"), fmt::format("ceil_div(max(1, ceil_div({}, {})), {}) * {}", k, name("WISH"),
                                    name("TILE_K"), name("TILE_K"))},
        {name("CHUNKS"), fmt::format("ceil_div({}, {})", k, name("CHUNK"))}};
    kernel.methods.push_back({"memory.split_k_parallel_reduce", "", ""});
    kernel.scratch.push_back(
        {sums(), sum_dtype(),
         fmt::format("{} * {} * {} * {}", name("CHUNKS"), as_factor(product_.batches()),
                     as_factor(product_.m()), as_factor(product_.n())),
         ""});
  }

  /// The second launch: a thread adds what the chunks found for its element.
  void add_finish(Kernel& kernel) {
    std::vector<std::string> variables = product_.batch().variables();
    for (const std::string& name : result_variables()) variables.push_back(name);
    e_.open(variables, 0, 0);
    const int scope = e_.open({}, 1, 0);
    product_.write_stores(e_, scope, "total");
    const std::string result = e_.close(), text = e_.close();
    e_.note(product_.m());
    e_.note(product_.n());
    e_.note(product_.batches());
    CudaWriter w(1);
    w.raw(e_.at(0).text());
    const std::string count = fmt::format("{} * {} * {}", as_factor(product_.batches()),
                                          as_factor(product_.m()), as_factor(product_.n()));
    w.line("const Index i = static_cast<Index>(blockIdx.x) * 256 + threadIdx.x;");
    w.line(fmt::format("const Index count = {};", count));
    w.line("if (i >= count) return;");
    w.line(fmt::format("const Index ni = i % {0}, mi = i / {0} % {1};", as_factor(product_.n()),
                       as_factor(product_.m())));
    w.line(fmt::format("const Index batch = i / {} / {};", as_factor(product_.n()),
                       as_factor(product_.m())));
    for (const Run* run : {&product_.batch(), &product_.result().row, &product_.result().column}) {
      run->write(e_, w);
    }
    w.line(fmt::format("{} total = 0;", sum_type()));
    w.line("for (Index c = 0; c < chunks; ++c) total += sums[c * count + i];");
    w.raw(text);
    w.raw(result);
    const std::string own = region_.name + "_finish";
    const Head head = head_of(
        e_, own, "typename Index", "256",
        {{"Index chunks", name("CHUNKS")}, {fmt::format("const {}* sums", sum_type()), sums()}});
    kernel.functions.insert(e_.functions().begin(), e_.functions().end());
    kernel.source +=
        fmt::format("\n// {}: the parts along k added up.\n", region_.stores[0].to.name) +
        head.text + " {\n" + w.text() + "}\n";
    for (Variant& variant : kernel.variants) {
      const bool wide = variant.launches[0].kernel.find("<long long") != std::string::npos;
      variant.launches.push_back({fmt::format("{}<{}>", own, wide ? "long long" : "int"),
                                  fmt::format("ceil_div({}, 256)", count), "256", "", head.args});
    }
  }

  const Region& region_;
  bool split_, switches_;
  Product product_;
  Emitter e_;
  std::vector<Staged> sides_;
  std::string result_, block_text_;
};

}  // namespace

bool matmul_applies(const Region& region, const Situation&) {
  return product_of(region).has_value();
}

namespace {

constexpr int64_t kLongSum = 512;
constexpr int64_t kTensorCores = 8;  // times as fast, roughly, where they are all busy

/// Tiles of a product whose sums are long; 0 where it has none of them.
int64_t tiles_to_split(const Region& region) {
  const auto product = product_of(region);
  if (!product || product->k().value() < kLongSum) return 0;
  return product->batches().value() * ((product->m().value() + 63) / 64) *
         ((product->n().value() + 63) / 64);
}

}  // namespace

bool matmul_split_applies(const Region& region, const Situation& situation) {
  const int64_t tiles = tiles_to_split(region);
  return tiles > 0 && tiles < situation.target.default_sms;
}

bool matmul_split_preferred(const Region& region, const Situation& situation) {
  const int64_t tiles = tiles_to_split(region);
  return tiles > 0 && tiles * kTensorCores < situation.target.default_sms;
}

Kernel matmul_emit(const Region& region, const Situation& situation) {
  Kernel kernel = Tiled(region, false, situation.switches).emit();
  settle(kernel, situation);
  return kernel;
}

Kernel matmul_split_emit(const Region& region, const Situation& situation) {
  Kernel kernel = Tiled(region, true, situation.switches).emit();
  settle(kernel, situation);
  return kernel;
}

}  // namespace kw::moves
