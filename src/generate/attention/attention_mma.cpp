// The problem: attention should run on tensor cores without storing its scores. The choice: a warp
// has 16 or 32 queries and keeps their fp32 results in registers. It reads keys tile by tile:
// scores by mma.sync, the graph's work on them, exponentials relative to a level near the largest
// score so far. Rounded to half, these enter the second product; sums are rescaled if a score
// exceeds its level. If the graph only scales a score, the product starts at minus the level. Row
// sums come from one more column of ones, so they sum exactly the numbers multiplied. The
// alternative, two products with a softmax between, stores all scores. The cost: registers limit a
// query to kDeepest elements.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "attention/attention.h"
#include "attention/attention_steps.h"
#include "attention/schedules.h"
#include "emit/emit.h"

namespace kw::generate {

namespace {

constexpr int64_t kDeepest = 256;     // elements of a query or value in registers
constexpr int64_t kHalvesInPack = 8;  // 16 bytes

class FusedAttention : ScheduleFrame {
 public:
  FusedAttention(const Region& region, const TargetContext& context)
      : ScheduleFrame(region, context),
        attention_(*attention_of(region)),
        dtype_(attention_.query().dtype),
        e_(region, 1) {
    attention_.prepare(e_);
  }

  Kernel emit() {
    write_values();
    const std::string body = write_body();
    kernel_.device(attention_steps(region_.name, dtype_, attention_.causal().has_value(),
                                   attention_.nodes().empty_is_zero));
    const DeviceFunction function = kernel_.function(
        e_, kernel_.result() + ": a warp keeps some queries' results while keys pass by.",
        region_.name,
        "typename Index, int kHead, int kTall, int kN, int kQVec, int kKVec, int kVVec, int kOVec",
        threads(), body);
    kernel_.need({"Pack", "copy_async", "await_copies"});
    kernel_.need(attention_helpers(dtype_));
    add_tunes();
    add_variants(function);
    add_plain_attention(kernel_, region_, context_, region_.name + "_plain");
    return kernel_.finish();
  }

 private:
  std::string threads() const { return fmt::format("32 * {}", name("WARPS")); }
  struct Fetch {
    const AttentionOperand* operand;
    std::string text;
  };
  struct Scores {
    std::string of_row, of_element, value;  // texts of a score, or of whether it is hidden
  };

  // Scopes: 1 is the block's position, 2 a row or an element of a tile, 3 a score.
  void write_values() {
    attention_.open_block(e_);
    for (const AttentionOperand* one :
         {&attention_.query(), &attention_.key(), &attention_.value()}) {
      fetches_.push_back({one, write_operand(*one)});
    }
    const auto& causal = attention_.causal();
    const NodeId scores = causal ? causal->below : attention_.nodes().scores;
    std::vector<MaskedScores> masks;
    NodeId below = scores;
    while (const std::optional<MaskedScores> mask = attention_.hidden(below)) {
      masks.push_back(*mask);
      below = mask->below;
    }
    factor_ = attention_.factor(e_, below);
    if (!factor_) {
      const std::optional<NodeId> scaled = attention_.scaled();
      if (scaled) per_dot_ = *attention_.factor(e_, *scaled);
      scores_ = write_scores(scores, scaled);
    }
    if (factor_ && !masks.empty()) scores_ = write_masks(masks);
    write_outcome();
    block_text_ = e_.close();
  }

  std::string write_operand(const AttentionOperand& operand) {
    const int scope = e_.open({operand.outer, operand.inner}, 1, operand.direct ? 2 : 3);
    if (operand.direct) {
      e_.touch({operand.buffer, operand.dtype, {}});
      e_.at(scope).line("copy_async<{}>(slot, {} + {}, within);", vec(operand), operand.buffer,
                        e_.text(operand.address));
    } else {
      const Value value = e_.value(operand.node, operand.index);
      e_.at(scope).line("*slot = {};", to_memory(dtype_, value.expr.text));
    }
    return e_.close();
  }

  Scores write_scores(NodeId node, const std::optional<NodeId>& scaled) {
    e_.open({"mi"}, 1, 2);
    const int scope = e_.open({"ni"}, 2, 1);
    Scores scores;
    std::map<NodeId, std::string> known;
    if (scaled) known[*scaled] = "dot * per_dot";
    scores.value = attention_.score(e_, node, "dot", scope, known).expr.text;
    scores.of_element = e_.close();
    scores.of_row = e_.close();
    return scores;
  }

  Scores write_masks(const std::vector<MaskedScores>& masks) {
    e_.open({"mi"}, 1, 2);
    e_.open({"ni"}, 2, 1);
    Scores scores;
    for (const MaskedScores& mask : masks) {
      const std::string test = attention_.beside(e_, mask.test).expr.operand();
      scores.value += (scores.value.empty() ? "" : " || ") + ((mask.when ? "" : "!") + test);
    }
    scores.of_element = e_.close();
    scores.of_row = e_.close();
    return scores;
  }

  /// One result, into its pack if packs can be stored, otherwise to memory.
  void write_outcome() {
    e_.open({"mi"}, 1, 1);
    const int scope = e_.open({"fi"}, 2, 1);
    std::optional<Dim> place;
    bool plain = region_.stores.size() == 1 && region_.stores[0].to.dtype == dtype_;
    const auto look = [&](const Store&, const Dim& address, const std::string&,
                          const std::string& condition) {
      plain = plain && condition.empty();
      place = address;
    };
    Emitter trial(region_);
    attention_.prepare(trial);
    trial.open(attention_.batch_variables(), 0);
    attention_.write_stores(trial, trial.open({"mi", "fi"}, 1), "outcome", look);
    if (plain) out_aligned_ = aligned_packs(e_, *place, "fi", kHalvesInPack);
    if (out_aligned_) {
      attention_.write_stores(
          e_, scope, "outcome",
          [&](const Store&, const Dim&, const std::string& value, const std::string&) {
            e_.at(scope).line("outcomes.at[each] = {};", value);
          });
      out_address_ = e_.text(*place);
    } else {
      attention_.write_stores(e_, scope, "outcome");
    }
    result_ = e_.close();
    result_row_ = e_.close();
  }

  static const char* vec(const AttentionOperand& operand) {
    return operand.name[0] == 'q' ? "kQVec" : operand.name[0] == 'k' ? "kKVec" : "kVVec";
  }
  std::string limit(const char* variable) const {
    switch (variable[0]) {
      case 'm':
        return attention_.rows().text();
      case 'n':
        return attention_.keys().text();
      case 'd':
        return attention_.depth().text();
      default:
        return attention_.width().text();
    }
  }

  std::string write_body() {
    CudaWriter w(1);
    w.raw(e_.at(0).text());
    const std::string half = memory_type(dtype_), &own = region_.name;
    w.line("constexpr int kThreads = {}, kM = {} * 16 * kTall;", threads(), name("WARPS"));
    w.line("// An odd number of 16-byte words: eight rows of a matrix lie in all banks.");
    w.line("constexpr int kPitch = kHead + 8;");
    w.line("extern __shared__ __align__(16) unsigned char tile_bytes[];");
    w.line("{0}* queries_tile = reinterpret_cast<{0}*>(tile_bytes);", half);
    w.line("{0}* keys_tile = queries_tile + kM * kPitch;", half);
    w.line("{0}* values_tile = keys_tile + 2 * kN * kPitch;", half);
    w.line("const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;");
    attention_.write_block(e_, w, context_);
    w.line("const Index warp_m = first_m + warp * 16 * kTall;");
    w.line("{}* rows = queries_tile + warp * 16 * kTall * kPitch;", half);
    w.raw(block_text_);
    for (const Fetch& fetch : fetches_) write_fetch(w, fetch);
    w.line("fetch_queries(first_m, 0);");
    w.line("fetch_keys(0, 0);");
    w.line("fetch_values(0, 0);");
    w.line("await_copies();");
    w.line("__syncthreads();");
    w.line("// Kept in registers where there is room.");
    w.line("constexpr int kSteps = kTall * kHead <= 128 ? kHead / 16 : 1;");
    w.line("unsigned left[kTall][kSteps][4];");
    w.line("#pragma unroll");
    w.line("for (int k = 0; k < kSteps; ++k) {}_load<kHead>(left, rows, k);", own);
    write_sums(w);
    w.line("int turn = 0;");
    write_loop(w);
    w.line("{}_leave(totals, sums, rows);", own);
    write_results(w);
    return w.text();
  }

  /// The values that a warp keeps while it reads the keys.
  void write_sums(CudaWriter& w) const {
    const bool steeper = factor_ && !factor_->empty();
    w.line("const float steep = {}1.44269504f;", steeper ? *factor_ + " * " : "");
    if (!per_dot_.empty()) w.line("const float per_dot = {};", per_dot_);
    w.line("float sums[kTall][4] = {}, totals[kTall][kHead / 8][4] = {};");
    w.line("float from[kTall][4] = {}, limits[2 * kTall];");
    w.line("#pragma unroll");
    w.line("for (int i = 0; i < 2 * kTall; ++i) limits[i] = -__int_as_float(0x7f800000);");
    if (!factor_) w.line("constexpr float kNothing[kTall][4] = {};");
  }

  void write_loop(CudaWriter& w) const {
    const std::string& own = region_.name;
    {
      const auto loop = w.block("for (Index start = 0; start < end; start += kN, turn ^= 1)");
      {
        const auto more = w.block("if (start + kN < end)");
        w.line("fetch_keys(start + kN, turn ^ 1);");
        w.line("fetch_values(start + kN, turn ^ 1);");
      }
      w.line("float dots[kTall][kN / 8][4];");
      w.line("{}_scores<kHead>(dots, {}, left, rows, keys_tile + turn * kN * kPitch);", own,
             factor_ ? "from" : "kNothing");
      write_pointwise(w);
      write_causal(w);
      w.line("if (start + kN > {0}) {1}_hide(dots, static_cast<int>({0} - start));", limit("ni"),
             own);
      w.line("{}_lift(dots, from, limits, sums, totals, steep);", own);
      w.line("{}_mix(totals, sums, dots, values_tile + turn * kN * kPitch, steep);", own);
      w.line("await_copies();");
      w.line("__syncthreads();");
    }
  }

  void write_fetch(CudaWriter& w, const Fetch& fetch) const {
    const AttentionOperand& operand = *fetch.operand;
    const char* rows = operand.outer[0] == 'm' ? "kM" : "kN";
    const auto lambda =
        w.definition(fmt::format("const auto fetch_{} = [&](Index from, int to)", operand.name));
    w.line("constexpr int kPacks = {} * kHead / {};", rows, vec(operand));
    w.line("#pragma unroll ({} > 1 ? 16 : 2)", vec(operand));
    const auto loop = w.block("for (int each = 0; each < kPacks; each += kThreads)");
    w.line("if (kPacks % kThreads != 0 && each + threadIdx.x >= kPacks) break;");
    w.line("const int2 place = pack_place<{}, kThreads>(each);",
           operand.across ? rows : fmt::format("kHead / {}", vec(operand)));
    w.line("const int at_outer = place.{}, {} = place.{} * {};", operand.across ? 'x' : 'y',
           operand.inner, operand.across ? 'y' : 'x', vec(operand));
    w.line("const Index {} = from + at_outer;", operand.outer);
    w.line("const bool within = {} < {} && {} < {};", operand.outer, limit(operand.outer),
           operand.inner, limit(operand.inner));
    w.line("{}* slot = {}_tile + (to * {} + at_outer) * kPitch + {};", memory_type(dtype_),
           operand.name, rows, operand.inner);
    if (operand.direct) {
      w.raw(fetch.text);
      return;
    }
    w.line("*slot = {};", to_memory(dtype_, "0.0f"));
    const auto inside = w.block("if (within)");
    w.raw(fetch.text);
  }

  void write_pointwise(CudaWriter& w) const {
    if (scores_.value.empty()) return;
    const auto loop = w.unrolled("for (int i = 0; i < 2 * kTall; ++i)");
    w.line("const Index own_m = warp_m + i * 8 + lane / 4;");
    w.line("const Index mi = own_m < {0} ? own_m : {0} - 1;", limit("mi"));
    w.raw(scores_.of_row);
    const auto elements = w.unrolled("for (int each = 0; each < kN / 4; ++each)");
    w.line("const Index own_n = start + each / 2 * 8 + lane % 4 * 2 + each % 2;");
    // Loads are tested, so that their addresses stay sums; keys after the last are hidden later.
    const bool loads = (scores_.of_element + scores_.value).find('[') != std::string::npos;
    if (loads) w.line("if (own_n >= {}) continue;", limit("ni"));
    w.line(loads ? "const Index ni = own_n;"
                 : fmt::format("const Index ni = own_n < {0} ? own_n : {0} - 1;", limit("ni")));
    w.line("float& dot = dots[i / 2][each / 2][i % 2 * 2 + each % 2];");
    w.raw(scores_.of_element);
    w.line(factor_ ? fmt::format("if ({}) dot = -__int_as_float(0x7f800000);", scores_.value)
                   : fmt::format("dot = {} + from[i / 2][i % 2 * 2];", scores_.value));
  }

  /// Tiles that all of the warp's queries see need no mask.
  void write_causal(CudaWriter& w) const {
    if (!attention_.causal()) return;
    const Dim& reach = attention_.causal()->reach;
    w.line("const Index room = warp_m - start{};",
           reach.same_text(Dim(0)) ? "" : fmt::format(" + ({})", reach.text()));
    w.line("if (room + 1 < kN) {}_hide_later(dots, room);", region_.name);
  }

  // Rounded as in the graph, from the rows of the warp's queries.
  void write_results(CudaWriter& w) const {
    const std::string half = memory_type(dtype_);
    const auto loop =
        w.block("for (int own = lane; own < 16 * kTall * (kHead / kOVec); own += 32)");
    w.line("const int at_outer = own / (kHead / kOVec);");
    w.line("const int at_inner = own % (kHead / kOVec) * kOVec;");
    w.line("const Index mi = warp_m + at_outer;");
    w.line("if (mi >= {} || at_inner >= {}) continue;", limit("mi"), limit("fi"));
    w.line(
        "auto outcomes = *reinterpret_cast<Pack<{}, kOVec>*>(rows + at_outer * kPitch + at_inner);",
        half);
    w.raw(result_row_);
    {
      const auto elements = w.unrolled("for (int each = 0; each < kOVec; ++each)");
      w.line("const Index fi = at_inner + each;");
      w.line("const float outcome = {};", from_memory(dtype_, "outcomes.at[each]"));
      w.raw(result_);
    }
    if (!out_aligned_) return;
    w.line("const Index fi = at_inner;");
    w.line("*reinterpret_cast<Pack<{}, kOVec>*>({} + {}) = outcomes;", half,
           region_.stores[0].to.name, out_address_);
  }

  void add_tunes() {
    using Values = std::vector<int64_t>;
    const int64_t rows = attention_.rows().value() * attention_.batches().value();
    const bool few = rows < 128 * 2 * context_.target.default_sms || attention_.rows().value() < 64;
    const int64_t head_size_now =
        16 * ((std::max(attention_.depth().value(), attention_.width().value()) + 15) / 16);
    const auto fits_in = [&](int64_t tall, int64_t keys) {
      return 2 * (64 * tall + 4 * keys) * (head_size_now + 8) <=
             context_.target.shared_per_block_optin;
    };
    const int64_t tall_now = few || !fits_in(2, 32) ? 1 : 2;
    kernel_.tune("TALL", {tall_now, 3 - tall_now});
    kernel_.tune("WARPS", {4, 8});
    kernel_.tune("KEYS", fits_in(tall_now, 64) ? Values{64, 32, 128} : Values{32, 64, 128},
                 fmt::format("{} * {} <= 128", name("TALL"), name("KEYS")));
    kernel_.methods({"memory.kernel_fusion", "compute.tensor_core", "memory.tiling_smem",
                     "memory.ldmatrix_stmatrix", "memory.bank_conflict",
                     "compute.overlap_compute_memory", "latency.online_recomputation"});
  }

  /// The conditions under which operands and results move in packs; empty if none can.
  std::optional<std::vector<std::string>> aligned() const {
    std::vector<std::string> all;
    bool packs = false;
    const auto add = [&](const std::optional<std::vector<std::string>>& own, const Dim& length) {
      if (!own) return;
      packs = true;
      all.insert(all.end(), own->begin(), own->end());
      add_whole_packs(all, length, kHalvesInPack);
    };
    for (const Fetch& fetch : fetches_) {
      add(fetch.operand->aligned,
          fetch.operand->inner[0] == 'd' ? attention_.depth() : attention_.width());
    }
    add(out_aligned_, attention_.width());
    if (!packs) return std::nullopt;
    return all;
  }

  void add_variants(const DeviceFunction& function) {
    const std::string head_size =
        kernel_.let("HEAD", fmt::format("16 * ceil_div(max(1, {}, {}), 16)",
                                        attention_.depth().text(), attention_.width().text()));
    const std::string tall =
        kernel_.let("TALL_USED", fmt::format("pick({} > 128, {}, 1)", head_size, name("TALL")));
    const std::string keys = kernel_.let(
        "KEYS_USED", fmt::format("pick({0} > 128, {1}, min({1}, 32))", head_size, name("KEYS")));
    const std::string rows = kernel_.let("ROWS", fmt::format("16 * {} * {}", name("WARPS"), tall));
    const std::string bytes = kernel_.let(
        "TILE_BYTES", fmt::format("2 * ({} + 4 * {}) * ({} + 8)", rows, keys, head_size));
    const std::string grid = fmt::format("{} * ceil_div({}, {})", as_factor(attention_.batches()),
                                         attention_.rows().text(), rows);
    const auto packed = aligned();
    if (packed) kernel_.methods({"memory.vectorized_access", "memory.async_copy"});
    const auto launches = [&](const Instance& instance) -> std::vector<Launch> {
      std::string types = fmt::format("{}, {}, {}, {}", instance.index, head_size, tall, keys);
      const auto add_vec = [&](bool aligned) {
        types += fmt::format(", {}", instance.packed && aligned ? kHalvesInPack : 1);
      };
      for (const Fetch& fetch : fetches_) add_vec(fetch.operand->aligned.has_value());
      add_vec(out_aligned_.has_value());
      return {function.launch(types, grid, threads(), bytes)};
    };
    kernel_.each_variant(packed.has_value(), packed.value_or(std::vector<std::string>{}), launches,
                         fmt::format("{} <= {} && {} <= SMEM_MAX", head_size, kDeepest, bytes));
  }

  Attention attention_;
  DType dtype_;
  Emitter e_;
  std::vector<Fetch> fetches_;
  Scores scores_;
  std::optional<std::string> factor_;  // "0.125f", if a score is only scaled
  std::string per_dot_;                // the same if more is done to a score
  std::string result_, result_row_, block_text_, out_address_;
  std::optional<std::vector<std::string>> out_aligned_;  // results can be stored in packs
};

bool attention_mma_applies(const Region& region, const TargetContext& context) {
  if (context.target.major < 8) return false;
  const std::optional<Attention> attention = attention_of(region);
  if (!attention) return false;
  const DType half = attention->query().dtype;
  return (half == DType::Fp16 || half == DType::Bf16) && attention->key().dtype == half &&
         attention->value().dtype == half && region.node(attention->nodes().shares).dtype == half &&
         std::max(attention->depth().value(), attention->width().value()) <= kDeepest;
}

}  // namespace

Schedules mma_attention_schedules() {
  return {{"attention_mma", "a warp keeps queries' results while keys pass by, on tensor cores",
           attention_mma_applies, emit_by<FusedAttention>}};
}

}  // namespace kw::generate
