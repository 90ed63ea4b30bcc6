// The problem: attention must also run for shapes and types that tensor cores do not take. The
// choice: fp32 on CUDA cores; a block has 64 or 128 queries and as many columns of their results,
// and reads as many keys at a time. A thread has 8 x 8 of either product. Queries, keys and values
// pass through shared memory in pieces, so their length is not limited; the next piece is loaded
// while one is multiplied. The alternative, the generic schedule, is far slower. The cost: if
// results have more columns, further blocks compute the scores again.
#include <fmt/core.h>

#include "attention/attention.h"
#include "attention/attention_steps.h"
#include "attention/schedules.h"
#include "emit/emit.h"

namespace kw::generate {

namespace {

constexpr int64_t kFloatsInPack = 4;  // 16 bytes

class PlainAttention {
 public:
  PlainAttention(const Region& region, const TargetContext& context, std::string kernel_name)
      : context_(context),
        kernel_name_(std::move(kernel_name)),
        attention_(*attention_of(region)),
        e_(region, 1) {
    attention_.prepare(e_);
  }

  /// Adds its code after the code that the kernel has already.
  void add_to(KernelBuilder& kernel) {
    write_values();
    const std::string body = write_body();
    kernel.need({"exact_power_of_two", "pack_place"});
    kernel.device((kernel.has_variants() ? "\n" : "") + plain_attention_steps(kernel_name_));
    const DeviceFunction function = kernel.function(
        e_, kernel.result() + ": a block keeps some queries' results while keys pass by.",
        kernel_name_, "typename Index, int kM, int kF, int kVec", "kM * kF / 64", body);
    add_launches(kernel, function);
  }

 private:
  // Scopes: 1 is the block's position, 2 a row or an element of a tile, 3 a score.
  void write_values() {
    attention_.open_block(e_);
    query_ = write_operand(attention_.query(), "left[at][at_k]");
    key_ = write_operand(attention_.key(), "right[at][at_k]");
    value_ = write_operand(attention_.value(), "values_tile[at_k][at]");
    e_.open({"mi"}, 1, 2);
    const int scope = e_.open({"ni"}, 2, 1);
    score_value_ =
        attention_.score(e_, attention_.nodes().scores, "dots[i][each]", scope).expr.text;
    score_ = e_.close();
    score_row_ = e_.close();
    e_.open({"mi"}, 1, 2);
    const int results = e_.open({"fi"}, 2, 2);
    attention_.write_stores(e_, results, "outcome");
    result_ = e_.close();
    result_row_ = e_.close();
    block_text_ = e_.close();
  }

  bool copied(const AttentionOperand& operand) const {
    return operand.direct && operand.dtype == DType::Fp32 && context_.target.major >= 8;
  }
  bool packed(const AttentionOperand& operand) const {
    return copied(operand) && operand.aligned.has_value();
  }
  const char* vec(const AttentionOperand& operand) const { return packed(operand) ? "kVec" : "1"; }

  /// Copied directly to its slot if it is a float in memory, which needs no registers.
  std::string write_operand(const AttentionOperand& operand, const char* slot) {
    const int scope = e_.open({operand.outer, operand.inner}, 1, copied(operand) ? 2 : 3);
    if (copied(operand)) {
      copies_ = true;
      e_.touch({operand.buffer, operand.dtype, {}});
      e_.need("copy_async");
      e_.need("await_copies");
      e_.at(scope).line("copy_async<{}>(&{}, {} + {}, within);", vec(operand), slot, operand.buffer,
                        e_.text(operand.address));
    } else {
      const Value value = e_.value(operand.node, operand.index);
      e_.at(scope).line("{} = {};", slot, value.expr.text);
    }
    return e_.close();
  }

  std::string write_body() {
    CudaWriter w(1);
    w.raw(e_.at(0).text());
    w.line("constexpr int kN = kF, kK = 32, kAcross = kF / 8, kThreads = kM / 8 * kAcross;");
    w.line("extern __shared__ __align__(16) unsigned char tile_bytes[];");
    w.line("float* stage = reinterpret_cast<float*>(tile_bytes);");
    w.line("float (*shares)[kM + 4] = reinterpret_cast<float (*)[kM + 4]>(stage);");
    w.line("constexpr int kPitch = kK + 4, kBoth = kPitch * (kM + kN), kOne = kK * (kF + 4);");
    w.line("constexpr int kPiece = kBoth > kOne ? kBoth : kOne;");
    w.line("float* pieces = stage + kN * (kM + 4);");
    attention_.write_block(e_, w, context_);
    w.line("const Index first_f = static_cast<Index>(blockIdx.y) * kF;");
    w.line("const int row = threadIdx.x / kAcross, column = threadIdx.x % kAcross;");
    w.raw(block_text_);
    write_fetches(w);
    w.line("float totals[8][8] = {}, sums[8] = {}, tops[8];");
    w.line("#pragma unroll");
    w.line("for (int i = 0; i < 8; ++i) tops[i] = -__int_as_float(0x7f800000);");
    w.line("int turn = 0;");
    w.line("fetch_scores(0, 0, 0);");
    {
      const auto loop = w.block("for (Index start = 0; start < end; start += kN)");
      write_first_product(w);
      write_pointwise(w);
      w.line("{}_weigh<kM, kAcross>(dots, tops, sums, totals, shares);", kernel_name_);
      write_second_product(w);
    }
    write_results(w);
    return w.text();
  }

  /// The position of piece `which`: queries followed by keys, or values.
  static void write_piece(CudaWriter& w, bool scores, const char* which) {
    const auto line = [&](const char* tile, const char* pitch, const char* behind) {
      w.line("float (*{0})[{1}] = reinterpret_cast<float (*)[{1}]>(pieces + {2} * kPiece{3});",
             tile, pitch, which, behind);
    };
    if (!scores) return line("values_tile", "kF + 4", "");
    line("left", "kPitch", "");
    line("right", "kPitch", " + kM * kPitch");
  }

  void write_fetches(CudaWriter& w) const {
    {
      const auto lambda =
          w.definition("const auto fetch_scores = [&](Index start, Index from, int to)");
      write_piece(w, true, "to");
      write_fetch(w, attention_.query(), "first_m", "left", query_);
      write_fetch(w, attention_.key(), "start", "right", key_);
    }
    const auto lambda =
        w.definition("const auto fetch_values = [&](Index start, int from, int to)");
    write_piece(w, false, "to");
    w.line("#pragma unroll 4");
    const auto loop = w.block(packs_loop(attention_.value(), "kK", "kF"));
    write_place(w, attention_.value(), "kK", "kF");
    w.line("const Index ni = start + from + at_k, fi = first_f + at;");
    w.line("const bool within = ni < {} && fi < {};", attention_.keys().text(),
           attention_.width().text());
    write_within(w, value_, "values_tile[at_k][at]");
  }

  /// The position of one of the thread's packs in a tile of `outer` x `inner`, in memory order.
  void write_place(CudaWriter& w, const AttentionOperand& operand, const char* outer,
                   const char* inner) const {
    const bool values = operand.inner[0] == 'f';
    w.line("const int2 place = pack_place<{} / {}, kThreads>(each);",
           operand.across ? outer : inner, vec(operand));
    w.line("const int {} = place.{}, {} = place.{} * {};", values ? "at_k" : "at",
           operand.across ? 'x' : 'y', values ? "at" : "at_k", operand.across ? 'y' : 'x',
           vec(operand));
  }
  std::string packs_loop(const AttentionOperand& operand, const char* outer,
                         const char* inner) const {
    return fmt::format("for (int each = 0; each < {} * {} / {}; each += kThreads)", outer, inner,
                       vec(operand));
  }

  void write_fetch(CudaWriter& w, const AttentionOperand& operand, const char* first,
                   const char* tile, const std::string& text) const {
    const bool query = operand.outer[0] == 'm';
    const std::string limit = query ? attention_.rows().text() : attention_.keys().text();
    const char* size = query ? "kM" : "kN";
    w.line("#pragma unroll 4");
    const auto loop = w.block(packs_loop(operand, size, "kK"));
    write_place(w, operand, size, "kK");
    w.line("const Index {} = {} + at, di = from + at_k;", operand.outer, first);
    w.line("const bool within = {} < {} && di < {};", operand.outer, limit,
           attention_.depth().text());
    write_within(w, text, fmt::format("{}[at][at_k]", tile));
  }

  static void write_within(CudaWriter& w, const std::string& text, const std::string& slot) {
    if (text.find("copy_async") != std::string::npos) {
      w.raw(text);
      return;
    }
    w.line(slot + " = 0.0f;");
    const auto inside = w.block("if (within)");
    w.raw(text);
  }

  /// The piece has arrived, and no thread needs the one before it.
  void write_arrival(CudaWriter& w) const {
    if (copies_) w.line("await_copies();");
    w.line("__syncthreads();");
  }

  void write_first_product(CudaWriter& w) const {
    w.line("float dots[8][8] = {};");
    const std::string depth = attention_.depth().text();
    const auto pieces =
        w.block("for (Index from = 0; from == 0 || from < {}; from += kK, turn ^= 1)", depth);
    write_arrival(w);
    w.line("if (from + kK < {}) fetch_scores(start, from + kK, turn ^ 1);", depth);
    w.line("else fetch_values(start, 0, turn ^ 1);");
    write_piece(w, true, "turn");
    w.line("{}_compare<kK, kM, kAcross>(left, right, dots);", kernel_name_);
  }

  void write_pointwise(CudaWriter& w) const {
    const std::string rows = attention_.rows().text(), keys = attention_.keys().text();
    const auto loop = w.unrolled("for (int i = 0; i < 8; ++i)");
    w.line("const Index own_m = first_m + i / 4 * (kM / 2) + row * 4 + i % 4;");
    w.line("const Index mi = own_m < {0} ? own_m : {0} - 1;", rows);
    w.raw(score_row_);
    const auto elements = w.unrolled("for (int each = 0; each < 8; ++each)");
    w.line("const Index own_n = start + each * kAcross + column;");
    w.line("const Index ni = own_n < {0} ? own_n : {0} - 1;", keys);
    w.raw(score_);
    w.line("dots[i][each] = own_n < {} ? {} : -__int_as_float(0x7f800000);", keys, score_value_);
  }

  void write_second_product(CudaWriter& w) const {
    const auto pieces = w.block("for (int from = 0; from < kN; from += kK, turn ^= 1)");
    write_arrival(w);
    w.line("if (from + kK < kN) fetch_values(start, from + kK, turn ^ 1);");
    w.line("else if (start + kN < end) fetch_scores(start + kN, 0, turn ^ 1);");
    write_piece(w, false, "turn");
    w.line("{}_multiply<kK, kM, kAcross>(shares + from, values_tile, totals);", kernel_name_);
  }

  void write_results(CudaWriter& w) const {
    const auto loop = w.unrolled("for (int i = 0; i < 8; ++i)");
    w.line("#pragma unroll");
    w.line(
        "for (int by = 1; by < kAcross; by *= 2) sums[i] += __shfl_xor_sync(0xffffffffu, sums[i], "
        "by);");
    w.line("const Index mi = first_m + i / 4 * (kM / 2) + row * 4 + i % 4;");
    const auto within = w.block("if (mi < {})", attention_.rows().text());
    w.line(attention_.nodes().empty_is_zero
               ? "const float per_sum = sums[i] == 0.0f ? 0.0f : 1.0f / sums[i];"
               : "const float per_sum = 1.0f / sums[i];");
    w.raw(result_row_);
    const auto elements = w.unrolled("for (int each = 0; each < 8; ++each)");
    w.line("const Index fi = first_f + each / 4 * (kF / 2) + column * 4 + each % 4;");
    w.line("const float outcome = totals[i][each] * per_sum;");
    const auto inside = w.block("if (fi < {})", attention_.width().text());
    w.raw(result_);
  }

  void add_launches(KernelBuilder& kernel, const DeviceFunction& function) const {
    const std::string width = attention_.width().text();
    const int64_t blocks = attention_.batches().value() * ((attention_.rows().value() + 127) / 128);
    const bool few = blocks < 2 * context_.target.default_sms || attention_.rows().value() <= 64;
    // With little shared memory only the smallest tile fits.
    const bool small = context_.target.major < 8;
    std::vector<int64_t> sizes = {few || small ? 64 : 128};
    // Beside a faster kernel it is only for shapes that the other cannot compute.
    if (!small && !kernel.has_variants()) sizes.push_back(192 - sizes[0]);
    const std::string asked = kernel.tune("ROWS_PLAIN", sizes);
    const std::string columns =
        kernel.let("COLUMNS", small ? "64" : fmt::format("pick({} > 64, 64, 128)", width));
    // 128 x 128 needs 141312 bytes.
    const std::string rows = kernel.let(
        "ROWS_BLOCK", fmt::format("pick({0} + {1} > 192, {0}, pick(SMEM_MAX < 141312, {0}, 64))",
                                  asked, columns));
    const std::string bytes =
        kernel.let("PLAIN_BYTES",
                   fmt::format("4 * ({1} * ({0} + 4) + 8 * max(9 * ({0} + {1}), 8 * ({1} + 4)))",
                               rows, columns));
    const std::string grid =
        fmt::format("{} * ceil_div({}, {}), ceil_div({}, {})", as_factor(attention_.batches()),
                    attention_.rows().text(), rows, width, columns);
    std::vector<std::string> aligned;
    bool packs = false;
    for (const AttentionOperand* operand :
         {&attention_.query(), &attention_.key(), &attention_.value()}) {
      if (!packed(*operand)) continue;
      packs = true;
      aligned.insert(aligned.end(), operand->aligned->begin(), operand->aligned->end());
      add_whole_packs(aligned, operand->inner[0] == 'd' ? attention_.depth() : attention_.width(),
                      kFloatsInPack);
    }
    if (packs) kernel.method("memory.vectorized_access");
    kernel.each_variant(packs, aligned, [&](const Instance& instance) -> std::vector<Launch> {
      return {function.launch(fmt::format("{}, {}, {}, {}", instance.index, rows, columns,
                                          instance.packed ? kFloatsInPack : 1),
                              grid, fmt::format("{} * {} / 64", rows, columns), bytes)};
    });
  }

  const TargetContext& context_;
  std::string kernel_name_;
  Attention attention_;
  Emitter e_;
  bool copies_ = false;  // some operand is copied directly to shared memory
  std::string query_, key_, value_, score_, score_row_, score_value_, result_, result_row_,
      block_text_;
};

bool attention_applies(const Region& region, const TargetContext&) {
  return attention_of(region).has_value();
}

Kernel plain_attention_emit(const Region& region, const TargetContext& context) {
  KernelBuilder kernel(region, context);
  kernel.methods({"memory.kernel_fusion", "memory.tiling_smem", "compute.ilp_unroll_register_tile",
                  "latency.online_recomputation"});
  add_plain_attention(kernel, region, context, region.name);
  return kernel.finish();
}

}  // namespace

void add_plain_attention(KernelBuilder& kernel, const Region& region, const TargetContext& context,
                         const std::string& name) {
  PlainAttention(region, context, name).add_to(kernel);
}

Schedules plain_attention_schedules() {
  return {{"attention", "a block keeps queries' results while keys pass by, on CUDA cores",
           attention_applies, plain_attention_emit}};
}

}  // namespace kw::generate
