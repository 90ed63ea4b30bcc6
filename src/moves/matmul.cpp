// Matrix products on CUDA cores: a block computes a tile, every thread 8 x 8 of it in registers.
// The next tiles of the operands travel to registers while the present ones are multiplied from
// shared memory, which has two buffers, so that one barrier per step is enough. Where tiles are too
// few to fill the device, several blocks share one along k, and a second launch adds what they
// found.
#include "moves/matmul.h"

#include <fmt/core.h>

#include "base/text.h"
#include "moves/schedules.h"
#include "moves/words.h"

namespace kw::moves {

using graph::NodeId;
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
        e_(region, 1) {
    product_.prepare(e_);
  }

  Kernel emit() {
    write_values();
    const std::string body = write_body();
    Kernel kernel;
    std::vector<std::pair<std::string, std::string>> more = {
        {"Index chunk", split_ ? name("CHUNK") : fmt::format("max(1, {})", product_.k().text())}};
    if (split_) more.emplace_back(sum_type() + "* sums", sums());
    const Head head = head_of(e_, region_.name, "typename Index", threads(), more);
    kernel.functions = e_.functions();
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
  /// The side of a thread's tile, its square, and how many fours it has.
  std::string edge() const { return switches_ ? "kSide" : "8"; }
  std::string square() const { return switches_ ? "kSide * kSide" : "64"; }
  std::string fours() const { return switches_ ? "(kSide / 4)" : "2"; }

  // Scopes: 1 is the block's place, 2 one element.
  void write_values() {
    e_.open(product_.batch().variables(), 0, 0);
    for (const Dim& extent : {product_.m(), product_.n(), product_.k()}) e_.note(extent);
    e_.note(product_.batches());
    left_ = write_element(product_.operand(true));
    right_ = write_element(product_.operand(false));
    if (split_) {
      result_ = fmt::format(
          "sums[((blockIdx.y * {} + batch) * {} + mi) * {} + ni] = total[i][other];\n",
          as_factor(product_.batches()), as_factor(product_.m()), as_factor(product_.n()));
    } else {
      const int scope = e_.open(result_variables(), 1, 3);
      product_.write_stores(e_, scope, "total[i][other]");
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

  struct Element {
    ProductOperand operand;
    std::string text;

    /// Where neighbouring threads take neighbours of the side, a thread's place there is always
    /// the same, and is taken apart once.
    bool has_own_place() const { return !operand.along_k && !operand.side().is_whole(); }
  };

  Element write_element(const ProductOperand& operand) {
    const int scope = e_.open(operand.variables(), 1, 2);
    const Value value = e_.value(operand.node, operand.view.index);
    e_.at(scope).line(fmt::format("next_{}[element] = {};", operand.tile, value.expr.text));
    return {operand, e_.close()};
  }

  std::string write_body() {
    CudaWriter w(1);
    w.raw(e_.at(0).text());
    const std::string m = product_.m().text(), n = product_.n().text();
    if (switches_) w.line(fmt::format("constexpr int kSide = {};", name("SIDE")));
    w.line(fmt::format("constexpr int kM = {}, kN = {}, kK = {}, kThreads = kM * kN / {};",
                       name("TILE_M"), name("TILE_N"), name("TILE_K"),
                       switches_ ? "(kSide * kSide)" : "64"));
    w.line(fmt::format("__shared__ __align__(16) {} left[2][kK][kM + 4], right[2][kK][kN + 4];",
                       sum_type()));
    w.line(fmt::format("const Index tiles_m = ({} + kM - 1) / kM, tiles_n = ({} + kN - 1) / kN;", m,
                       n));
    w.line("const Index batch = blockIdx.x / (tiles_m * tiles_n);");
    w.line("const Index first_m = blockIdx.x / tiles_n % tiles_m * kM;");
    w.line("const Index first_n = blockIdx.x % tiles_n * kN;");
    w.line(fmt::format(
        "const int row = threadIdx.x / (kN / {0}), column = threadIdx.x % (kN / {0});", edge()));
    w.line("const Index begin = blockIdx.y * chunk;");
    w.line(fmt::format("const Index end = {0} - begin < chunk ? {0} : begin + chunk;",
                       product_.k().text()));
    product_.batch().write(e_, w);
    w.raw(block_text_);
    for (const Element* element : {&left_, &right_}) {
      if (!element->has_own_place()) continue;
      const bool left = element->operand.left;
      w.line(fmt::format("const Index {0} = first_{1} + threadIdx.x % {2};", left ? "mi" : "ni",
                         left ? "m" : "n", left ? "kM" : "kN"));
      element->operand.side().write(e_, w);
    }
    w.line(fmt::format("{0} next_left[kM * kK / kThreads], next_right[kN * kK / kThreads];",
                       sum_type()));
    w.line(fmt::format("{0} total[{1}][{1}] = {{}};", sum_type(), edge()));
    write_fetch(w);
    write_keep(w);
    w.line("fetch(begin);");
    w.line("keep(0);");
    w.line("__syncthreads();");
    w.line("int turn = 0;");
    {
      const auto loop = w.block("for (Index start = begin; start < end; start += kK, turn ^= 1)");
      const std::string ahead = switches_ ? name("AHEAD") + " && " : "";
      w.line(fmt::format("if ({}start + kK < end) fetch(start + kK);", ahead));
      w.line(
          fmt::format("{}_multiply(left[turn], right[turn], row, column, total);", region_.name));
      if (switches_) {
        // Behind a barrier, so that no compiler fetches ahead by itself.
        const auto late = w.block(fmt::format("if (!{})", name("AHEAD")));
        w.line("__syncthreads();");
        w.line("if (start + kK < end) fetch(start + kK);");
      }
      w.line("if (start + kK < end) keep(turn ^ 1);");
      w.line("__syncthreads();");
    }
    write_results(w);
    return w.text();
  }

  /// Elements `start` … `start` + kK of both operands into registers; zero outside.
  void write_fetch(CudaWriter& w) {
    const auto lambda = w.block("const auto fetch = [&](Index from)", ";");
    for (const Element* element : {&left_, &right_}) {
      const ProductOperand& operand = element->operand;
      const char* side = operand.left ? "mi" : "ni";
      const char* size = operand.left ? "kM" : "kN";
      w.line("#pragma unroll");
      const auto loop = w.block(
          fmt::format("for (int element = 0; element < {} * kK / kThreads; ++element)", size));
      write_place(w, operand);
      if (element->has_own_place()) {
        w.line("const Index ki = from + at_k;");
      } else {
        w.line(fmt::format("const Index {} = {} + at, ki = from + at_k;", side,
                           operand.left ? "first_m" : "first_n"));
        operand.side().write(e_, w);
      }
      operand.k().write(e_, w);
      w.line(fmt::format("next_{}[element] = 0;", operand.tile));
      const auto inside =
          w.block(fmt::format("if ({} < {} && ki < end)", side,
                              operand.left ? product_.m().text() : product_.n().text()));
      w.raw(element->text);
    }
  }

  void write_keep(CudaWriter& w) const {
    const auto lambda = w.block("const auto keep = [&](int to)", ";");
    for (const Element* element : {&left_, &right_}) {
      const ProductOperand& operand = element->operand;
      w.line("#pragma unroll");
      const auto loop =
          w.block(fmt::format("for (int element = 0; element < {} * kK / kThreads; ++element)",
                              operand.left ? "kM" : "kN"));
      write_place(w, operand);
      w.line(fmt::format("{0}[{1}][at_k][at] = next_{0}[element];", operand.tile, "to"));
    }
  }

  /// Neighbouring threads take what lies side by side in memory.
  void write_place(CudaWriter& w, const ProductOperand& operand) const {
    const char* size = operand.left ? "kM" : "kN";
    w.line("const int own = element * kThreads + threadIdx.x;");
    w.line(operand.along_k ? "const int at = own / kK, at_k = own % kK;"
                           : fmt::format("const int at = own % {0}, at_k = own / {0};", size));
  }

  /// Device code of one step: the thread's 8 x 8 sums take kK products each.
  std::string multiply_text() const {
    CudaWriter w;
    w.comment(switches_ ? "The thread's sums take what one tile of each operand gives."
                        : "The thread's 8 x 8 sums take what one tile of each operand gives.");
    w.line(switches_ ? "template <int kK, int kM, int kN, int kSide>"
                     : "template <int kK, int kM, int kN>");
    w.line("__device__ __forceinline__ void");
    {
      const auto function = w.block(fmt::format(
          "{0}_multiply(const {1} (&left)[kK][kM], const {1} (&right)[kK][kN], int row, int "
          "column, {1} (&total)[{2}][{2}])",
          region_.name, sum_type(), edge()));
      w.line("#pragma unroll");
      const auto steps = w.block("for (int k = 0; k < kK; ++k)");
      w.line(fmt::format("{0} a[{1}], b[{1}];", sum_type(), edge()));
      w.line("#pragma unroll");
      {
        const auto load = w.block(fmt::format("for (int i = 0; i < {}; ++i)", edge()));
        w.line(fmt::format("a[i] = left[k][i / 4 * ((kM - 4) / {}) + row * 4 + i % 4];", fours()));
        w.line(
            fmt::format("b[i] = right[k][i / 4 * ((kN - 4) / {}) + column * 4 + i % 4];", fours()));
      }
      w.line("#pragma unroll");
      w.line(fmt::format(
          "for (int i = 0; i < {0}; ++i) total[i / {1}][i % {1}] += a[i / {1}] * b[i % {1}];",
          square(), edge()));
    }
    return w.text() + "\n";
  }

  // Columns outside where they are taken apart: a thread has 64 elements, but 8 columns.
  void write_results(CudaWriter& w) {
    const Run &row = product_.result().row, &column = product_.result().column;
    const bool columns_first = !split_ && !column.is_whole();
    const std::string next_row =
        fmt::format("const Index mi = first_m + i / 4 * (kM / {}) + row * 4 + i % 4;", fours());
    const std::string next_column = fmt::format(
        "const Index ni = first_n + other / 4 * (kN / {}) + column * 4 + other % 4;", fours());
    const auto loop = [&](const char* counter) {
      w.line("#pragma unroll");
      return w.block(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", counter, edge()));
    };
    const auto outer = loop(columns_first ? "other" : "i");
    w.line(columns_first ? next_column : next_row);
    if (!split_) (columns_first ? column : row).write(e_, w);
    const auto inner = loop(columns_first ? "i" : "other");
    w.line(columns_first ? next_row : next_column);
    if (!split_) (columns_first ? row : column).write(e_, w);
    const auto inside =
        w.block(fmt::format("if (mi < {} && ni < {})", product_.m().text(), product_.n().text()));
    if (split_) {
      w.line(std::string(trim(result_)));
    } else {
      w.raw(result_);
    }
  }

  std::string summary() const {
    return fmt::format("// {}: a block computes a tile of the product{}.\n",
                       region_.stores[0].to.name, split_ ? " over a part of k" : "");
  }

  void add_plan(Kernel& kernel, const Head& head) {
    const int64_t m = product_.m().value(), n = product_.n().value();
    const bool small = m * n * product_.batches().value() < 128 * 128 * 132;
    using Values = std::vector<int64_t>;
    const auto sizes = [&](int64_t extent) {
      if (sum_dtype() == DType::Fp64) return Values{64};
      return small || extent <= 64 ? Values{64, 128} : Values{128, 64};
    };
    kernel.tunes.push_back({name("TILE_M"), sizes(m), ""});
    kernel.tunes.push_back({name("TILE_N"), sizes(n), ""});
    kernel.tunes.push_back({name("TILE_K"), {8, 16}, ""});
    kernel.methods.push_back({"memory.tiling_smem", "", ""});
    add_switches(kernel);
    const std::string tiles =
        fmt::format("{} * ceil_div({}, {}) * ceil_div({}, {})", as_factor(product_.batches()),
                    product_.m().text(), name("TILE_M"), product_.n().text(), name("TILE_N"));
    if (split_) add_chunks(kernel, tiles);
    const std::string fits = fits_int(region_);
    const auto variant = [&](const std::string& when, const char* index) {
      kernel.variants.push_back(
          {when,
           {{fmt::format("{}<{}>", region_.name, index),
             split_ ? tiles + ", " + name("CHUNKS") : tiles, threads(), "", head.args}}});
    };
    if (!fits.empty()) variant(fits, "int");
    variant("", fits.empty() ? "int" : "long long");
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
  Element left_, right_;
  std::string result_, block_text_;
};

}  // namespace

bool matmul_applies(const Region& region, const Situation&) {
  return product_of(region).has_value();
}

bool matmul_split_applies(const Region& region, const Situation& situation) {
  const auto product = product_of(region);
  if (!product) return false;
  const int64_t tiles = product->batches().value() * ((product->m().value() + 63) / 64) *
                        ((product->n().value() + 63) / 64);
  return tiles < situation.target.default_sms && product->k().value() >= 512;
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
