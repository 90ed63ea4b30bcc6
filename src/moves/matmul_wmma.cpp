// Matrix products of half types on tensor cores, through wmma: a block computes a tile, every warp
// 64 x 32 of it, sums in fp32. Operands lie in shared memory as they lie in memory, rows or
// columns, with padding against bank conflicts; the next tiles travel to registers meanwhile.
// Results pass through shared memory once more, so that what follows sees single elements.
#include <fmt/core.h>

#include "base/text.h"
#include "moves/matmul.h"
#include "moves/schedules.h"
#include "moves/words.h"

namespace kw::moves {

using tensor::DType;

namespace {

constexpr int64_t kPack = 8;  // halves in 16 bytes

class TensorCores {
 public:
  explicit TensorCores(const Region& region)
      : region_(region),
        product_(*product_of(region)),
        sides_{product_.operand(true, true), product_.operand(false, true)},
        dtype_(region.node(sides_[0].node).dtype),
        e_(region, 1) {
    e_.ranges = product_.ranges();
  }

  Kernel emit() {
    write_values();
    const std::string body = write_body();
    Kernel kernel;
    const Head head = head_of(e_, region_.name, "typename Index, int kVec", threads());
    kernel.functions = e_.functions();
    kernel.functions.insert("load_pack");
    kernel.headers.insert("mma.h");
    kernel.source = fmt::format("// {}: a block computes a tile of the product on tensor cores.\n",
                                region_.stores[0].to.name) +
                    head.text + " {\n" + body + "}\n";
    add_plan(kernel, head);
    return kernel;
  }

 private:
  std::string name(const char* text) const { return text + region_.suffix; }
  std::string threads() const {
    return fmt::format("{} * {} / 64", name("TILE_M"), name("TILE_N"));
  }
  static std::string extent(const char* index) {
    return index[0] == 'm' ? "kM" : index[0] == 'n' ? "kN" : "kK";
  }
  std::string limit(const char* index) const {
    return index[0] == 'm'   ? product_.m().text()
           : index[0] == 'n' ? product_.n().text()
                             : product_.k().text();
  }
  std::string packs_of(const ProductOperand& side) const {
    return fmt::format("{} * {} / kVec / kThreads", extent(side.outer()), extent(side.inner()));
  }

  // Scopes: 1 is the block's place, 2 one pack or result.
  void write_values() {
    e_.open({"batch"}, 0, 0);
    for (const Dim& size : {product_.m(), product_.n(), product_.k()}) e_.note(size);
    e_.note(product_.batches());
    for (const ProductOperand& side : sides_) {
      const int scope = e_.open({"mi", "ni", "ki"}, 1, 2);
      Packs packs(e_, side.inner());
      packed_ = packed_ && side.direct && packs.can_store(side.address);
      for (const std::string& condition : packs.conditions(std::to_string(kPack)))
        conditions_.push_back(condition);
      const Value value =
          e_.value(side.node, side.left ? product_.left_index() : product_.right_index());
      if (side.direct) {
        e_.at(scope).line(fmt::format("next_{}[element] = load_pack<kVec>({} + {});", side.tile,
                                      buffer_of(side), e_.text(side.address)));
      } else {
        e_.at(scope).line(fmt::format("next_{}[element].at[0] = {};", side.tile,
                                      to_memory(dtype_, value.expr.text)));
      }
      fetches_.push_back(e_.close());
    }
    const int scope = e_.open({"mi", "ni"}, 1, 4);
    product_.write_stores(e_, scope, "total");
    result_ = e_.close();
    block_text_ = e_.close();
  }

  /// The buffer a direct operand lies in.
  std::string buffer_of(const ProductOperand& side) const {
    std::string found;
    Emitter e(region_);
    e.ranges = product_.ranges();
    e.open({"batch", "mi", "ni", "ki"}, 0);
    e.on_load = [&](graph::NodeId, const Buffer& buffer, const Dim&) -> std::optional<Value> {
      found = buffer.name;
      return Value{{"x"}, 1};
    };
    e.value(side.node, side.left ? product_.left_index() : product_.right_index());
    return found;
  }

  std::string write_body() {
    CudaWriter w(1);
    w.raw(e_.at(0).text());
    const std::string half = memory_type(dtype_);
    w.line(fmt::format("constexpr int kM = {}, kN = {}, kK = 32;", name("TILE_M"), name("TILE_N")));
    w.line("constexpr int kWarps = kM / 64 * (kN / 32), kThreads = 32 * kWarps;");
    for (const ProductOperand& side : sides_)
      w.line(fmt::format("__shared__ __align__(32) {} {}[{}][{} + 8];", half, side.tile,
                         extent(side.outer()), extent(side.inner())));
    w.line("__shared__ __align__(32) float results[kWarps][16][20];");
    w.line(fmt::format("const Index tiles_m = ({} + kM - 1) / kM, tiles_n = ({} + kN - 1) / kN;",
                       product_.m().text(), product_.n().text()));
    w.line("const Index batch = blockIdx.x / (tiles_m * tiles_n);");
    w.line("const Index first_m = blockIdx.x / tiles_n % tiles_m * kM;");
    w.line("const Index first_n = blockIdx.x % tiles_n * kN;");
    w.line("const int warp = threadIdx.x / 32;");
    w.line("const int warp_m = warp / (kN / 32) * 64, warp_n = warp % (kN / 32) * 32;");
    w.raw(block_text_);
    for (const ProductOperand& side : sides_)
      w.line(fmt::format("Pack<{}, kVec> next_{}[{}];", half, side.tile, packs_of(side)));
    w.line("namespace wmma = nvcuda::wmma;");
    w.line("wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[4][2];");
    w.line("#pragma unroll");
    w.line("for (int i = 0; i < 8; ++i) wmma::fill_fragment(sums[i / 2][i % 2], 0.0f);");
    write_fetch(w);
    w.line("fetch(0);");
    {
      const auto loop = w.block(
          fmt::format("for (Index start = 0; start < {}; start += kK)", product_.k().text()));
      write_keep(w);
      w.line("__syncthreads();");
      w.line(fmt::format("if (start + kK < {}) fetch(start + kK);", product_.k().text()));
      write_products(w);
      w.line("__syncthreads();");
    }
    write_results(w);
    return w.text();
  }

  void write_place(CudaWriter& w, const ProductOperand& side) const {
    w.line("const int own = element * kThreads + threadIdx.x;");
    w.line(fmt::format(
        "const int at_inner = own % ({0} / kVec) * kVec, at_outer = own / ({0} / kVec);",
        extent(side.inner())));
  }

  void write_fetch(CudaWriter& w) const {
    const auto lambda = w.block("const auto fetch = [&](Index from)", ";");
    for (size_t s = 0; s < sides_.size(); ++s) {
      const ProductOperand& side = sides_[s];
      w.line("#pragma unroll");
      const auto loop =
          w.block(fmt::format("for (int element = 0; element < {}; ++element)", packs_of(side)));
      write_place(w, side);
      for (const char* index : {side.outer(), side.inner()}) {
        const char* place = index == side.inner() ? "at_inner" : "at_outer";
        w.line(index[0] == 'k'
                   ? fmt::format("const Index ki = from + {};", place)
                   : fmt::format("const Index {} = first_{} + {};", index, index[0], place));
      }
      w.line(fmt::format("next_{}[element] = {{}};", side.tile));
      const auto inside =
          w.block(fmt::format("if ({} < {} && {} < {})", side.outer(), limit(side.outer()),
                              side.inner(), limit(side.inner())));
      w.raw(fetches_[s]);
    }
  }

  void write_keep(CudaWriter& w) const {
    for (const ProductOperand& side : sides_) {
      w.line("#pragma unroll");
      const auto loop =
          w.block(fmt::format("for (int element = 0; element < {}; ++element)", packs_of(side)));
      write_place(w, side);
      w.line(fmt::format(
          "*reinterpret_cast<Pack<{0}, kVec>*>(&{1}[at_outer][at_inner]) = next_{1}[element];",
          memory_type(dtype_), side.tile));
    }
  }

  void write_products(CudaWriter& w) const {
    w.line("#pragma unroll");
    const auto steps = w.block("for (int k = 0; k < kK; k += 16)");
    for (const ProductOperand& side : sides_) {
      // Rows of the left operand run along k, rows of the right one along n.
      const bool rows = side.along_k == side.left;
      w.line(fmt::format("wmma::fragment<wmma::{}, 16, 16, 16, {}, wmma::{}> {}[{}];",
                         side.left ? "matrix_a" : "matrix_b", memory_type(dtype_),
                         rows ? "row_major" : "col_major", side.left ? "a" : "b",
                         side.left ? 4 : 2));
    }
    for (const ProductOperand& side : sides_) {
      const char* at = side.left ? "warp_m + 16 * i" : "warp_n + 16 * i";
      w.line("#pragma unroll");
      w.line(
          fmt::format("for (int i = 0; i < {0}; ++i) wmma::load_matrix_sync({1}[i], "
                      "&{2}[{3}][{4}], {5} + 8);",
                      side.left ? 4 : 2, side.left ? "a" : "b", side.tile, side.along_k ? at : "k",
                      side.along_k ? "k" : at, extent(side.inner())));
    }
    w.line("#pragma unroll");
    w.line(
        "for (int i = 0; i < 8; ++i) wmma::mma_sync(sums[i / 2][i % 2], a[i / 2], b[i % 2], "
        "sums[i / 2][i % 2]);");
  }

  void write_results(CudaWriter& w) const {
    w.line("#pragma unroll");
    const auto fragments = w.block("for (int i = 0; i < 8; ++i)");
    w.line(
        "wmma::store_matrix_sync(&results[warp][0][0], sums[i / 2][i % 2], 20, "
        "wmma::mem_row_major);");
    w.line("__syncwarp();");
    {
      const auto elements =
          w.block("for (int element = threadIdx.x % 32; element < 256; element += 32)");
      w.line("const Index mi = first_m + warp_m + i / 2 * 16 + element / 16;");
      w.line("const Index ni = first_n + warp_n + i % 2 * 16 + element % 16;");
      w.line("const float total = results[warp][element / 16][element % 16];");
      const auto inside =
          w.block(fmt::format("if (mi < {} && ni < {})", product_.m().text(), product_.n().text()));
      w.raw(result_);
    }
    w.line("__syncwarp();");
  }

  void add_plan(Kernel& kernel, const Head& head) {
    const int64_t size = product_.m().value() * product_.n().value() * product_.batches().value();
    using Values = std::vector<int64_t>;
    const Values sizes = size < 128 * 128 * 132 ? Values{64, 128} : Values{128, 64};
    kernel.tunes.push_back({name("TILE_M"), sizes, ""});
    kernel.tunes.push_back({name("TILE_N"), sizes, ""});
    kernel.methods.push_back({"compute.tensor_core", "", ""});
    kernel.methods.push_back({"memory.tiling_smem", "", ""});
    kernel.methods.push_back({"memory.bank_conflict", "", ""});
    kernel.methods.push_back({"compute.overlap_compute_memory", "", ""});
    const std::string tiles =
        fmt::format("{} * ceil_div({}, {}) * ceil_div({}, {})", as_factor(product_.batches()),
                    product_.m().text(), name("TILE_M"), product_.n().text(), name("TILE_N"));
    const auto variant = [&](const std::string& when, const char* index, int64_t pack) {
      kernel.variants.push_back({when,
                                 {{fmt::format("{}<{}, {}>", region_.name, index, pack), tiles,
                                   threads(), "", head.args}}});
    };
    const std::string fits = fits_int(region_);
    if (packed_) {
      std::vector<std::string> fast = conditions_;
      for (const ProductOperand& side : sides_)
        fast.push_back(fmt::format("({}) % {} == 0", limit(side.inner()), kPack));
      fast.push_back(fits);
      variant(all_of(fast), "int", kPack);
    }
    if (!fits.empty()) variant(fits, "int", 1);
    variant("", fits.empty() ? "int" : "long long", 1);
  }

  const Region& region_;
  Product product_;
  std::vector<ProductOperand> sides_;
  DType dtype_;
  Emitter e_;
  bool packed_ = true;
  std::vector<std::string> conditions_, fetches_;
  std::string result_, block_text_;
};

}  // namespace

bool matmul_wmma_applies(const Region& region, const Situation& situation) {
  const auto product = product_of(region);
  if (!product) return false;
  const DType left = region.node(product->operand(true, true).node).dtype;
  const DType right = region.node(product->operand(false, true).node).dtype;
  const bool known = left == DType::Fp16 || (left == DType::Bf16 && situation.target.major >= 8);
  return left == right && known;
}

Kernel matmul_wmma_emit(const Region& region, const Situation& situation) {
  Kernel kernel = TensorCores(region).emit();
  settle(kernel, situation);
  return kernel;
}

}  // namespace kw::moves
