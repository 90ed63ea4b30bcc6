// The problem: tensor cores are fast only if operands arrive in time and in the right layout. The
// choice: mma.sync; a block computes a tile, every warp 64 x 32 of it, with fp32 sums in registers.
// Operands keep their memory layout in shared memory, with padding against bank conflicts. The next
// tiles go through registers to a second buffer meanwhile, so that one barrier per step is enough.
// Results pass through shared memory once more, so that the epilogue sees single elements. The
// alternative, the warpgroup instructions of newer devices, would not run on older ones. The cost:
// registers for sums and prefetched tiles. Tiles that do not fill a wave are shared along k.
#include <fmt/core.h>

#include "emit/emit.h"
#include "matmul/matmul.h"
#include "matmul/matmul_lookup.h"
#include "matmul/matmul_split.h"
#include "matmul/schedules.h"

namespace kw::generate {

namespace {

constexpr int64_t kPack = 8;  // halves in 16 bytes

const TileSizes kTiles{{128, 64}, {128, 64}, kTensorCores};

class TensorCores : ScheduleFrame {
 public:
  TensorCores(const Region& region, const TargetContext& context, Tiling tiling)
      : ScheduleFrame(region, context),
        product_(*product_of(region, true, tiling)),
        cut_(kTiles.best(product_, tiling == Tiling::Split, context)),
        share_(region, product_, tiling == Tiling::Split, DType::Fp32, "32"),
        sides_{product_.operand(true), product_.operand(false)},
        dtype_(region.node(sides_[0].node).dtype),
        e_(region, 1) {
    product_.prepare(e_);
  }

  Kernel emit() {
    write_values();
    const std::string body = write_body();
    const DeviceFunction function = kernel_.function(
        e_, kernel_.result() + ": a block computes a tile of the product on tensor cores.",
        region_.name, "typename Index, int kLeftVec, int kRightVec", bounds(), body,
        share_.parameters());
    kernel_.need({"Pack", "WordOf", "load_operands", "keep_sums", add_product(dtype_)});
    share_.write_finish(kernel_);
    add_plan(function);
    return kernel_.finish();
  }

 private:
  std::string threads() const {
    return fmt::format("{} * {} / 64", name("TILE_M"), name("TILE_N"));
  }
  /// The launch bounds: the registers of one multiprocessor must hold RESIDENT threads.
  std::string bounds() const {
    return fmt::format("{},\n{}{} * 64 / ({} * {})", threads(), std::string(34, ' '),
                       name("RESIDENT"), name("TILE_M"), name("TILE_N"));
  }
  static std::string extent(const char* index) {
    return index[0] == 'm' ? "kM" : index[0] == 'n' ? "kN" : "kK";
  }
  std::string limit(const char* index) const {
    return index[0] == 'm'   ? product_.m().text()
           : index[0] == 'n' ? product_.columns()
                             : product_.k().text();
  }
  static const char* vec(const ProductOperand& side) {
    return side.left ? "kLeftVec" : "kRightVec";
  }
  std::string packs_of(const ProductOperand& side) const {
    return fmt::format("{} * {} / {} / kThreads", extent(side.outer()), extent(side.inner()),
                       vec(side));
  }
  /// The type that a thread moves at once: an opaque word if memory has the layout of the tile.
  std::string unit(const ProductOperand& side) const {
    return side.direct && !lookups_[side.left ? 0 : 1]
               ? fmt::format("typename WordOf<2 * {}>::Type", vec(side))
               : fmt::format("Pack<{}, 1>", memory_type(dtype_));
  }
  /// If adjacent threads take adjacent elements of the side, a thread's position there is constant.
  static bool has_own_place(const ProductOperand& side) {
    return !side.along_k && !side.side().is_whole();
  }

  // Scopes: 1 is the block's position, 2 one pack or result.
  void write_values() {
    e_.open(product_.batch().variables(), 0, 0);
    for (const Dim& size : {product_.m(), product_.n(), product_.k()}) e_.note(size);
    e_.note(product_.batches());
    for (const ProductOperand& side : sides_) fetches_.push_back(write_side(side));
    const int scope = e_.open(product_.result().variables(), 1, 4);
    product_.write_stores(e_, scope, "total");
    result_ = e_.close();
    block_text_ = e_.close();
  }

  std::string write_side(const ProductOperand& side) {
    const int scope = e_.open(side.view.variables(), 1, 2);
    Packs packs(e_, side.inner_run().inner().name);
    const bool packed = side.direct && packs.can_store(substitute(side.address, e_.rename));
    packed_.push_back(packed);
    if (packed) {
      for (const std::string& condition : packs.conditions(std::to_string(kPack)))
        conditions_.push_back(condition);
      conditions_.push_back(
          fmt::format("({}) % {} == 0", side.inner_run().inner().extent.text(), kPack));
    }
    lookups_.push_back(packed ? std::nullopt : Lookup::find(region_, side, e_));
    if (lookups_.back()) {
      e_.close();
      return "";
    }
    const Value value = e_.value(side.node, side.view.index);
    if (side.direct) {
      e_.at(scope).line("next_{}[element] = *reinterpret_cast<const {}*>({} + {});", side.tile,
                        unit(side), side.buffer, e_.text(side.address));
    } else {
      e_.at(scope).line("next_{}[element].at[0] = {};", side.tile,
                        to_memory(dtype_, value.expr.text));
    }
    return e_.close();
  }

  std::string write_body() {
    CudaWriter w(1);
    w.raw(e_.at(0).text());
    const std::string half = memory_type(dtype_);
    w.line("constexpr int kM = {}, kN = {}, kK = 32, kBuffers = {};", name("TILE_M"),
           name("TILE_N"), name("BUFFERS"));
    w.line("constexpr int kWarps = kM / 64 * (kN / 32), kThreads = 32 * kWarps;");
    for (const ProductOperand& side : sides_)
      w.line("__shared__ __align__(16) {} {}[kBuffers][{}][{} + 8];", half, side.tile,
             extent(side.outer()), extent(side.inner()));
    for (const auto& lookup : lookups_) {
      if (lookup) lookup->write_shared(w);
    }
    w.line("__shared__ __align__(16) float results[kWarps][16 * 16];");
    w.line("const int warp = threadIdx.x / 32;");
    w.line("const int warp_m = warp / (kN / 32) * 64, warp_n = warp % (kN / 32) * 32;");
    share_.write(w, [&] {
      product_.write_batch(e_, w);
      w.raw(block_text_);
      for (size_t i = 0; i < sides_.size(); ++i) write_own_place(w, i);
      w.line("float sums[4][2][2][4] = {};");
      write_fetch(w);
      write_steps(w);
      write_results(w);
    });
    return w.text();
  }

  bool has_tables() const { return lookups_[0] || lookups_[1]; }

  /// Writes a thread's position before the loop.
  void write_own_place(CudaWriter& w, size_t i) {
    const ProductOperand& side = sides_[i];
    w.line("{} next_{}[{}];", unit(side), side.tile, packs_of(side));
    const std::string at =
        fmt::format("threadIdx.x % ({0} / {1}) * {1}", extent(side.inner()), vec(side));
    if (!lookups_[i]) {
      if (has_own_place(side)) write_number(w, side, at);
      return;
    }
    lookups_[i]->write_columns(w, "1", [&](const std::string& own) { write_number(w, side, own); });
  }

  void write_steps(CudaWriter& w) {
    if (has_tables()) {
      {
        const auto lambda = w.definition("const auto look_up = [&](Index from, int to)");
        for (const auto& lookup : lookups_) {
          if (lookup) lookup->write_rows(w, e_);
        }
      }
      w.line("look_up(begin, 0);");
      w.line("look_up(begin + kK, 1);");
      w.line("__syncthreads();");
    }
    {
      const auto lambda = w.definition("const auto keep = [&](int to)");
      write_keep(w);
    }
    w.line("fetch(begin, 0, false);");
    w.line("keep(0);");
    w.line("__syncthreads();");
    w.line("int turn = 0;");
    w.line("Index start = begin;");
    write_loop(w, true);
    write_loop(w, false);
  }

  /// One of the loops over k. `whole`: there is a next step and k fills it.
  void write_loop(CudaWriter& w, bool whole) {
    const auto loop =
        w.block("for (; start{} end; start += kK, turn ^= 1)", whole ? " + 2 * kK <=" : " <");
    const std::string more = whole ? "" : "if (start + kK < end) ";
    w.line(more + fmt::format("fetch(start + kK, turn ^ 1, {});", whole ? "true" : "false"));
    if (has_tables() && whole) w.line("look_up(start + 2 * kK, turn);");
    write_products(w);
    w.line("if (kBuffers == 1) __syncthreads();");
    w.line(more + "keep((turn ^ 1) % kBuffers);");
    w.line("__syncthreads();");
  }

  /// Adjacent threads take adjacent elements; a thread's packs are below each other.
  void write_place(CudaWriter& w, const ProductOperand& side) const {
    const std::string width = fmt::format("({} / {})", extent(side.inner()), vec(side));
    w.line("const int at_inner = threadIdx.x % {} * {};", width, vec(side));
    w.line("const int at_outer = threadIdx.x / {0} + element * (kThreads / {0});", width);
  }

  void write_fetch(CudaWriter& w) {
    const auto lambda = w.definition("const auto fetch = [&](Index from, int turn, bool whole)");
    for (size_t s = 0; s < sides_.size(); ++s) {
      const ProductOperand& side = sides_[s];
      const auto loop =
          w.unrolled("for (int element = 0; element < {}; ++element)", packs_of(side));
      write_place(w, side);
      if (lookups_[s]) {
        w.line("next_{}[element] = {{}};", side.tile);
        w.line(side.along_k ? "const int at_k = at_inner, at = at_outer;"
                            : "const int at_k = at_outer;");
        lookups_[s]->write_load(w, "0", fmt::format("next_{}[element].at[0]", side.tile), true);
        continue;
      }
      w.line("const Index ki = from + {};", side.along_k ? "at_inner" : "at_outer");
      side.k().write(e_, w);
      if (!has_own_place(side)) {
        write_number(w, side, side.along_k ? "at_outer" : "at_inner");
      }
      const auto inside = w.block_then("if (whole || ki < end)",
                                       fmt::format(" else next_{}[element] = {{}};", side.tile));
      w.raw(fetches_[s]);
    }
  }

  /// The side's index at a position of the tile. Beyond the end it is the last one, whose results
  /// are not stored.
  void write_number(CudaWriter& w, const ProductOperand& side, const std::string& at) {
    const char* own = side.left ? "mi" : "ni";
    w.line("const Index {0}_wish = first_{1} + {2};", own, side.left ? "m" : "n", at);
    w.line("const Index {0} = {0}_wish < {1} ? {0}_wish : {1} - {2};", own, limit(own),
           side.along_k ? "1" : vec(side));
    side.side().write(e_, w);
  }

  void write_keep(CudaWriter& w) const {
    for (const ProductOperand& side : sides_) {
      const auto loop =
          w.unrolled("for (int element = 0; element < {}; ++element)", packs_of(side));
      write_place(w, side);
      w.line("*reinterpret_cast<{0}*>(&{1}[to][at_outer][at_inner]) = next_{1}[element];",
             unit(side), side.tile);
    }
  }

  // Few fragments at a time, to save registers.
  void write_products(CudaWriter& w) const {
    const auto load = [&](const ProductOperand& side, const char* to) {
      const char* at = side.left ? "warp_m + 16 * i" : "warp_n + 16 * i";
      return fmt::format("load_{}{}<{} + 8>({}, {}[turn % kBuffers][0], {}, {});",
                         side.left ? "left" : "right", side.along_k ? "" : "_turned",
                         extent(side.inner()), to, side.tile, side.along_k ? at : "k",
                         side.along_k ? "k" : at);
    };
    const auto steps = w.unrolled("for (int k = 0; k < kK; k += 16)");
    w.line("unsigned b[2][4];");
    w.line("#pragma unroll");
    w.line("for (int i = 0; i < 2; ++i) " + load(sides_[1], "b[i]"));
    const auto rows = w.unrolled("for (int i = 0; i < 4; ++i)");
    w.line("unsigned a[4];");
    w.line(load(sides_[0], "a"));
    w.line("#pragma unroll");
    w.line(
        "for (int j = 0; j < 4; ++j) {}(sums[i][j / 2][j % 2], a, b[j / 2][j % 2 * 2], b[j / 2][j "
        "% 2 * 2 + 1]);",
        add_product(dtype_));
  }

  void write_results(CudaWriter& w) {
    const auto fragments = w.unrolled("for (int i = 0; i < 8; ++i)");
    w.line("keep_sums(results[warp], sums[i / 2][i % 2]);");
    w.line("__syncwarp();");
    // A lane's column is the same in all rows, and is split into axes once.
    w.line("const int at_n = warp_n + i % 2 * 16 + threadIdx.x % 16;");
    w.line("const Index ni = first_n + at_n;");
    product_.result().column.write(e_, w);
    {
      const auto rows = w.unrolled("for (int row = threadIdx.x % 32 / 16; row < 16; row += 2)");
      w.line("const int at_m = warp_m + i / 2 * 16 + row;");
      w.line("const Index mi = first_m + at_m;");
      w.line("const float total = results[warp][sum_place(row, threadIdx.x % 16)];");
      share_.write_part(w);
      product_.result().row.write(e_, w);
      const auto inside =
          w.block("if (mi < {} && ni < {})", product_.m().text(), product_.columns());
      w.raw(result_);
    }
    w.line("__syncwarp();");
  }

  void add_plan(const DeviceFunction& function) {
    using Values = std::vector<int64_t>;
    kTiles.add_tunes(kernel_, cut_);
    share_.add_plan(kernel_);
    // Single elements need more registers.
    const bool single = !(packed_[0] || lookups_[0]) || !(packed_[1] || lookups_[1]);
    kernel_.tune("RESIDENT", single ? Values{256, 512} : Values{512, 256});
    // 48 KiB of shared memory hold two buffers, but not a table of columns as well.
    const bool columns = (lookups_[0] && sides_[0].along_k) || (lookups_[1] && sides_[1].along_k);
    kernel_.tune("BUFFERS", columns ? Values{1} : Values{2, 1});
    kernel_.methods({"compute.tensor_core", "memory.tiling_smem", "memory.ldmatrix_stmatrix",
                     "memory.bank_conflict", "compute.overlap_compute_memory"});
    kernel_.each_variant(packed_[0] || packed_[1], conditions_, [&](const Instance& instance) {
      const auto vec = [&](size_t side) { return instance.packed && packed_[side] ? kPack : 1; };
      return share_.launches(function, instance.index, fmt::format("{}, {}", vec(0), vec(1)),
                             threads());
    });
  }

  Product product_;
  Cut cut_;
  TileShare share_;
  std::vector<ProductOperand> sides_;
  DType dtype_;
  Emitter e_;
  std::vector<bool> packed_;  // whether a side is loaded in packs
  std::vector<std::optional<Lookup>> lookups_;
  std::vector<std::string> conditions_, fetches_;
  std::string result_, block_text_;
};

double wmma_gain_of_phases(const Region& region, const TargetContext& context) {
  if (!matmul_wmma_applies(region, context)) return 0;
  const auto phased = product_of(region, true, Tiling::Phases);
  if (!phased) return 0;
  return kTiles.fastest(*product_of(region, true), context) /
         kTiles.best(*phased, false, context).clocks;
}

bool matmul_wmma_phases_apply(const Region& region, const TargetContext& context) {
  return wmma_gain_of_phases(region, context) > kWorthATry;
}

bool matmul_wmma_phases_preferred(const Region& region, const TargetContext& context) {
  return wmma_gain_of_phases(region, context) > kLikelyFaster;
}

bool matmul_wmma_split_applies(const Region& region, const TargetContext& context) {
  return matmul_wmma_applies(region, context) &&
         kTiles.gain_of_split(*product_of(region, true), context) > kWorthATry;
}

bool matmul_wmma_split_preferred(const Region& region, const TargetContext& context) {
  return matmul_wmma_applies(region, context) &&
         kTiles.gain_of_split(*product_of(region, true), context) > kLikelyFaster;
}

}  // namespace

bool matmul_wmma_applies(const Region& region, const TargetContext& context) {
  const auto product = product_of(region, true);
  if (!product) return false;
  const DType left = region.node(product->operand(true).node).dtype;
  const DType right = region.node(product->operand(false).node).dtype;
  const bool known = left == DType::Fp16 || (left == DType::Bf16 && context.target.major >= 8);
  return left == right && known;
}

Schedules wmma_schedules() {
  return {{"matmul_wmma", "tiles on tensor cores", matmul_wmma_applies,
           emit_by<TensorCores, Tiling::Whole>},
          {"matmul_wmma_phases", "tiles on tensor cores, each of one phase of a stride",
           matmul_wmma_phases_apply, emit_by<TensorCores, Tiling::Phases>,
           matmul_wmma_phases_preferred},
          {"matmul_wmma_split", "tiles on tensor cores, those of the last wave split along k",
           matmul_wmma_split_applies, emit_by<TensorCores, Tiling::Split>,
           matmul_wmma_split_preferred}};
}

}  // namespace kw::generate
