// The problem: products on CUDA cores are limited by loads unless each element is used many times.
// The choice: a block computes a tile, every thread 8 x 8 or 8 x 16 of it in registers. The next
// tiles are loaded to registers while the present ones are multiplied from shared memory; two
// buffers need one barrier per step. Steps that k fills have no bounds tests; the last steps have
// their own loop. Results go through shared memory, so that adjacent threads store adjacent
// elements. The alternative, a dot product per thread, loads both operands for every product. The
// cost: registers and shared memory limit the blocks per multiprocessor. matmul_split.h shares a
// last, unfilled wave.
#include "matmul/matmul.h"

#include <fmt/core.h>

#include <algorithm>

#include "emit/emit.h"
#include "matmul/matmul_operand.h"
#include "matmul/matmul_split.h"
#include "matmul/schedules.h"

namespace kw::generate {

namespace {

/// The type of the sums: as wide as the result, fp32 for halves.
DType sum_dtype(const Product& product) {
  const DType dtype = product.node().dtype;
  return in_float(dtype) ? DType::Fp32 : dtype;
}

bool is_low(const Product& product) {
  return product.m().value() <= 32 && product.m().value() <= product.n().value();
}
bool is_narrow(const Product& product) { return product.n().value() <= 32 && !is_low(product); }

/// Tiles are not larger than a narrow product.
TileSizes tile_sizes(const Product& product) {
  const auto few = [](int64_t extent) {
    return extent <= 16 ? std::vector<int64_t>{16, 32} : std::vector<int64_t>{32, 64};
  };
  if (tensor::dtype_size(sum_dtype(product)) > 4) return {{64}, {64}};
  if (is_low(product)) return {few(product.m().value()), {128, 64}};
  if (is_narrow(product)) return {{128, 64}, few(product.n().value())};
  return {{128, 64}, {128, 64}};
}

class Tiled : ScheduleFrame {
 public:
  /// With switches a thread's tile can be smaller (SIDE), and prefetching can be off (AHEAD).
  Tiled(const Region& region, const TargetContext& context, Tiling tiling)
      : ScheduleFrame(region, context),
        split_(tiling == Tiling::Split),
        switches_(context.switches),
        product_(*product_of(region, false, tiling)),
        sums_(sum_dtype(product_)),
        share_(region, product_, split_, sums_, name("TILE_K")),
        e_(region, 1),
        sides_{{region, product_, true, sums_}, {region, product_, false, sums_}} {
    product_.prepare(e_);
  }

  Kernel emit() {
    write_values();
    const std::string body = write_body();
    kernel_.device(multiply_text());
    const DeviceFunction function =
        kernel_.function(e_, summary(), region_.name, "typename Index, int kLeftVec, int kRightVec",
                         bounds(), body, share_.parameters());
    kernel_.need({"Pack"});
    if (sides_[0].packed() || sides_[1].packed()) kernel_.need({"load_pack"});
    share_.write_finish(kernel_);
    add_plan(function);
    return kernel_.finish();
  }

 private:
  std::string sum_type() const { return register_type(sums_); }
  /// The number of sums of a thread, as a plan expression.
  std::string square() const {
    const std::string side = name("SIDE");
    return switches_ ? fmt::format("({0} * {0})", side) : fmt::format("(8 * {})", name("ACROSS"));
  }
  std::string threads() const {
    return fmt::format("{} * {} / {}", name("TILE_M"), name("TILE_N"), square());
  }
  /// The launch bounds: one multiprocessor must hold blocks with RESIDENT * 64 sums together.
  std::string bounds() const {
    return fmt::format("{},\n{}1 + ({} * {} - 1) / ({} * {})", threads(), std::string(34, ' '),
                       name("RESIDENT"), switches_ ? fmt::format("{0} * {0}", name("SIDE")) : "64",
                       name("TILE_M"), name("TILE_N"));
  }
  /// The rows and columns of a thread's tile.
  std::string tall() const { return switches_ ? "kSide" : "8"; }
  std::string across() const { return switches_ ? "kSide" : "kAcross"; }

  // Scopes: 1 is the block's position, 2 one element.
  void write_values() {
    e_.open(product_.batch().variables(), 0, 0);
    for (const Dim& extent : {product_.m(), product_.n(), product_.k()}) e_.note(extent);
    e_.note(product_.batches());
    for (Staged& side : sides_) side.prepare(e_);
    const int scope = e_.open(product_.result().variables(), 1, 3);
    product_.write_stores(e_, scope, "total");
    result_ = e_.close();
    block_text_ = e_.close();
  }

  std::string write_body() {
    CudaWriter w(1);
    w.raw(e_.at(0).text());
    w.line("constexpr int {} = {};", across(), name(switches_ ? "SIDE" : "ACROSS"));
    w.line("constexpr int kM = {}, kN = {}, kK = {}, kThreads = kM * kN / ({} * {});",
           name("TILE_M"), name("TILE_N"), name("TILE_K"), tall(), across());
    // The 4 x 8 threads of a warp read 64 and 128 bytes of shared memory at once.
    w.line("constexpr int kLanesM = kM < 4 * {0} ? kM / {0} : kN < 8 * {1} ? 32 * {1} / kN : 4;",
           tall(), across());
    w.line("constexpr int kLanesN = 32 / kLanesM, kWide = {} * kLanesN;", across());
    for (const Staged& side : sides_) side.write_shared(w);
    w.line("__shared__ __align__(16) {} results[{} * kThreads];", sum_type(), across());
    w.line("const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;");
    w.line("const int warp_m = warp / (kN / kWide) * ({} * kLanesM);", tall());
    w.line("const int warp_n = warp % (kN / kWide) * kWide;");
    w.line("const int row = warp_m + lane / kLanesN * 4, column = warp_n + lane % kLanesN * 4;");
    share_.write(w, [&] {
      product_.write_batch(e_, w);
      w.raw(block_text_);
      for (const Staged& side : sides_) side.write_places(w, e_);
      w.line("{} total[{}][{}] = {{}};", sum_type(), tall(), across());
      write_steps(w);
      write_results(w);
    });
    return w.text();
  }

  void write_steps(CudaWriter& w) {
    const bool tables = sides_[0].lookup() || sides_[1].lookup();
    if (tables) {
      const auto lambda = w.definition("const auto look_up = [&](Index from, int to)");
      for (const Staged& side : sides_) {
        if (side.lookup()) side.lookup()->write_rows(w, e_);
      }
    }
    {
      const auto lambda = w.definition("const auto fetch = [&](Index from, int turn, bool whole)");
      for (const Staged& side : sides_) side.write_fetch(w, e_);
    }
    {
      const auto lambda = w.definition("const auto keep = [&](int to)");
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
    const auto loop = w.block("for (; {}; start += kK, turn ^= 1)", condition);
    const std::string more = whole ? "" : "if (start + kK < end) ";
    const std::string fetch =
        fmt::format("fetch(start + kK, turn ^ 1, {});", whole ? "true" : "false");
    const std::string ahead = name("AHEAD");
    if (!switches_) {
      w.line(more + fetch);
    } else {
      w.line("if ({}{}) {}", ahead, whole ? "" : " && start + kK < end", fetch);
    }
    if (tables && whole) w.line("look_up(start + 2 * kK, turn);");
    w.line("{}_multiply<{}, kLanesM, kLanesN>(left[turn], right[turn], row, column, total);",
           region_.name, unroll);
    if (switches_) {
      // After a barrier, so that the compiler does not prefetch by itself.
      const auto late = w.block("if (!{})", ahead);
      w.line("__syncthreads();");
      w.line(more + fetch);
    }
    w.line(more + "keep(turn ^ 1);");
    w.line("__syncthreads();");
  }

  /// Device code of one step: adds kK products to each of the thread's sums.
  std::string multiply_text() const {
    CudaWriter w;
    w.comment("The thread's sums take what one tile of each operand gives.");
    w.line("template <int kUnroll, int kLanesM, int kLanesN, int kK, int kM, int kN, int {}>",
           across());
    w.line("__device__ __forceinline__ void");
    {
      const auto function = w.block(
          "{0}_multiply(const {1} (&left)[kK][kM], const {1} (&right)[kK][kN], int row, int "
          "column, {1} (&total)[{2}][{3}])",
          region_.name, sum_type(), tall(), across());
      w.line(switches_ ? "#pragma unroll" : "#pragma unroll kUnroll");
      const auto steps = w.block("for (int k = 0; k < kK; ++k)");
      w.line("{} a[{}], b[{}];", sum_type(), tall(), across());
      w.line("#pragma unroll");
      w.line("for (int i = 0; i < {}; ++i) a[i] = left[k][row + i / 4 * (4 * kLanesM) + i % 4];",
             tall());
      w.line("#pragma unroll");
      w.line(
          "for (int i = 0; i < {}; ++i) b[i] = right[k][column + i / 4 * (4 * kLanesN) + i % 4];",
          across());
      w.line("#pragma unroll");
      w.line(
          "for (int i = 0; i < {0} * {1}; ++i) total[i / {1}][i % {1}] += a[i / {1}] * b[i % {1}];",
          tall(), across());
    }
    return w.text() + "\n";
  }

  // Writes one row of each thread at a time; the warp reads it again along columns.
  void write_results(CudaWriter& w) {
    w.line("{}* const own = results + warp * 32 * {};", sum_type(), across());
    const auto loop = [&](const char* counter, const std::string& extent, const char* times = "") {
      w.line("#pragma unroll{}", times);
      return w.block("for (int {0} = 0; {0} < {1}; ++{0})", counter, extent);
    };
    const auto rows = loop("i", tall());
    {
      const auto columns = loop("other", across());
      w.line("const int at = other / 4 * (4 * kLanesN) + lane % kLanesN * 4 + other % 4;");
      w.line("own[lane / kLanesN * kWide + at] = total[i][other];");
    }
    w.line("__syncwarp();");
    {
      // Four stores in flight are enough; unrolling all would add a third to the compile time.
      const auto columns = loop("other", across(), " 4");
      w.line("const int at = other * 32 + lane;");
      w.line("const int at_m = warp_m + i / 4 * (4 * kLanesM) + at / kWide * 4 + i % 4;");
      w.line("const int at_n = warp_n + at % kWide;");
      w.line("const Index mi = first_m + at_m, ni = first_n + at_n;");
      w.line("const {} total = own[at];", sum_type());
      share_.write_part(w);
      product_.result().row.write(e_, w);
      product_.result().column.write(e_, w);
      const auto inside =
          w.block("if (mi < {} && ni < {})", product_.m().text(), product_.columns());
      w.raw(result_);
    }
    w.line("__syncwarp();");
  }

  std::string summary() const {
    return fmt::format("{}: a block computes a tile of the product{}.", kernel_.result(),
                       split_                      ? ", or a part of one along k"
                       : product_.phases().empty() ? ""
                                                   : ", its rows of one phase");
  }

  void add_plan(const DeviceFunction& function) {
    add_sizes();
    kernel_.method("memory.tiling_smem");
    add_switches();
    std::vector<std::string> aligned;
    for (const Staged& side : sides_) {
      aligned.insert(aligned.end(), side.conditions().begin(), side.conditions().end());
    }
    kernel_.each_variant(
        sides_[0].packed() || sides_[1].packed(), aligned, [&](const Instance& instance) {
          const auto vec = [&](const Staged& side) {
            return instance.packed && side.packed() ? side.pack() : 1;
          };
          return share_.launches(function, instance.index,
                                 fmt::format("{}, {}", vec(sides_[0]), vec(sides_[1])), threads());
        });
  }

  void add_sizes() {
    using Values = std::vector<int64_t>;
    const TileSizes sizes = tile_sizes(product_);
    const Cut cut = sizes.best(product_, split_, context_);
    const bool wide = tensor::dtype_size(sums_) > 4;
    const bool flat = is_low(product_) || is_narrow(product_);
    sizes.add_tunes(kernel_, cut,
                    flat ? fmt::format("{} * {} >= 2048", name("TILE_M"), name("TILE_N")) : "");
    share_.add_plan(kernel_);
    kernel_.tune("TILE_K", {8, 16});
    // 8 x 16 sums of a thread need 24 loads from shared memory per step; twice 8 x 8 need 32. But
    // half as many threads fetch, single elements take longer, and a block that is alone on its
    // multiprocessor hides less latency.
    const bool packs = sides_[0].packed() && sides_[1].packed();
    const bool alone = !split_ && cut.tiles <= context_.target.default_sms;
    if (!switches_) {
      kernel_.tune("ACROSS", wide || flat      ? Values{8}
                             : packs && !alone ? Values{16, 8}
                                               : Values{8, 16});
    }
    // The lower a tile is, the more elements a thread fetches, each into a register.
    const bool lowest = std::min(product_.m().value(), product_.n().value()) <= 16;
    kernel_.tune("RESIDENT", wide ? Values{256} : lowest ? Values{256, 512} : Values{512, 256});
  }

  void add_switches() {
    const std::string side = name("SIDE"), ahead = name("AHEAD");
    if (switches_) {
      kernel_.tune("SIDE", {8, 4}, threads() + " <= 1024");
      kernel_.tune("AHEAD", {1, 0});
    }
    const auto method = [&](const char* id, const std::string& tune, int on, int off) {
      kernel_.method(id, switches_ ? fmt::format("{} == {}", tune, on) : "",
                     switches_ ? fmt::format("{}={}", tune, off) : "");
    };
    method("compute.ilp_unroll_register_tile", side, 8, 4);
    method("compute.overlap_compute_memory", ahead, 1, 0);
  }

  bool split_, switches_;
  Product product_;
  DType sums_;
  TileShare share_;
  Emitter e_;
  std::vector<Staged> sides_;
  std::string result_, block_text_;
};

/// The speed-up of the product with a phase per block; 0 if it has no phases.
double gain_of_phases(const Region& region, const TargetContext& context) {
  const auto product = product_of(region), phased = product_of(region, false, Tiling::Phases);
  if (!phased) return 0;
  return tile_sizes(*product).fastest(*product, context) /
         tile_sizes(*phased).best(*phased, false, context).clocks;
}

bool matmul_applies(const Region& region, const TargetContext&) {
  return product_of(region).has_value();
}

bool matmul_phases_apply(const Region& region, const TargetContext& context) {
  return gain_of_phases(region, context) > kWorthATry;
}

bool matmul_phases_preferred(const Region& region, const TargetContext& context) {
  return !matmul_wmma_applies(region, context) && gain_of_phases(region, context) > kLikelyFaster;
}

bool matmul_split_applies(const Region& region, const TargetContext& context) {
  const auto product = product_of(region);
  return product && tile_sizes(*product).gain_of_split(*product, context) > kWorthATry;
}

bool matmul_split_preferred(const Region& region, const TargetContext& context) {
  const auto product = product_of(region);
  return product && !matmul_wmma_applies(region, context) &&
         tile_sizes(*product).gain_of_split(*product, context) > kLikelyFaster;
}

}  // namespace

Schedules matmul_schedules() {
  return {{"matmul", "tiles on CUDA cores", matmul_applies, emit_by<Tiled, Tiling::Whole>},
          {"matmul_phases", "tiles on CUDA cores, each of one phase of a stride",
           matmul_phases_apply, emit_by<Tiled, Tiling::Phases>, matmul_phases_preferred},
          {"matmul_split", "tiles on CUDA cores, those of the last wave split along k",
           matmul_split_applies, emit_by<Tiled, Tiling::Split>, matmul_split_preferred}};
}

}  // namespace kw::generate
