// The problem: the gradient of a small convolution's weight has few results and long sums; tiles of
// a product would be mostly empty. The choice: a thread has one row of the result and the taps of
// one channel as adjacent columns, and reads its share of k. Each left element is multiplied with
// every tap. Blocks share a row along k; a second launch adds their parts, a warp per result. The
// alternative, a split product, still computes whole tiles. The cost: the left operand is read once
// per channel, so this is for few channels.
#include <fmt/core.h>

#include "emit/emit.h"
#include "matmul/matmul.h"
#include "matmul/schedules.h"

namespace kw::generate {

namespace {

constexpr int64_t kMostSums = 32;      // sums of a thread
constexpr int64_t kMostChannels = 4;   // the left operand is read once for each
constexpr int64_t kMostRows = 1024;    // rows of the result
constexpr int64_t kLongEnough = 8192;  // terms of a sum
constexpr int64_t kNarrowTile = 16;    // fewest columns of a product's tile

/// The number of adjacent columns of the right operand that is the same at all shapes: its taps.
int64_t taps_of(const Region& region, const Node& product) {
  const size_t rank = product.shape.size();
  const Shape parts = parts_below(region, product.inputs[1], rank - 1);
  int64_t taps = 1;
  for (size_t d = parts.size(); d-- > 0;) {
    if (!parts[d].is_constant() || taps * parts[d].value() > kMostSums) break;
    taps *= parts[d].value();
  }
  return taps;
}

class TapSums : ScheduleFrame {
 public:
  TapSums(const Region& region, const TargetContext& context)
      : ScheduleFrame(region, context),
        product_(*product_of(region)),
        taps_(taps_of(region, product_.node())),
        channels_(floor_div(product_.n(), Dim(taps_))),
        k_{"ki", make_domain(terms(), "_k"), {}},
        e_(region, 1) {}

  Kernel emit() {
    const DeviceFunction sums = write_sums(), finish = write_finish();
    add_plan(sums, finish);
    return kernel_.finish();
  }

 private:
  std::string sums() const { return scratch_name(region_, "sums"); }
  Shape terms() const {
    return parts_below(region_, product_.node().inputs[1], product_.node().shape.size() - 2);
  }
  std::vector<std::string> row_variables() const { return {"mi", "channel"}; }

  /// An operand at one term; `tap` is for the right one.
  Value operand(Emitter& e, bool left, int64_t tap) const {
    const Node& node = product_.node();
    Index index(node.shape.size(), Dim(0));
    const size_t rank = index.size();
    index[rank - 2] = left ? variable("mi") : k_.index();
    index[rank - 1] = left ? k_.index() : variable("channel") * Dim(taps_) + Dim(tap);
    return e.value(node.inputs[left ? 0 : 1], index);
  }

  void prepare(Emitter& e) const {
    e.ranges = ranges_of(k_.domain);
    e.ranges.insert_or_assign("mi", product_.m());
    e.ranges.insert_or_assign("channel", channels_);
    e.rename = k_.axes.rename;
  }

  /// Joins k to as few axes as the accesses allow.
  void join_terms() {
    Emitter trial(region_);
    prepare(trial);
    trial.open(row_variables(), 0);
    trial.open(k_.variables(), 1);
    operand(trial, true, 0);
    for (int64_t tap = 0; tap < taps_; ++tap) operand(trial, false, tap);
    std::vector<std::string> names;
    for (size_t i = 0; i < 8; ++i) names.push_back(fmt::format("k{}", i));
    k_.axes = joined(k_.domain, trial.used().indices, names);
  }

  DeviceFunction write_sums() {
    join_terms();
    prepare(e_);
    e_.open(row_variables(), 0, 0);
    const int term = e_.open(k_.variables(), 1);
    const Value left = operand(e_, true, 0);
    const std::string factor = e_.bound({left.expr, term}, DType::Fp32, "factor").expr.text;
    for (int64_t tap = 0; tap < taps_; ++tap) {
      const std::string other = operand(e_, false, tap).expr.operand();
      e_.at(term).line("total[{}] += {} * {};", tap, factor, other);
    }
    const std::string step = e_.close(), row = e_.close();
    CudaWriter w(1);
    w.raw(e_.at(0).text());
    w.line("__shared__ float slots[{}][{} / 32];", taps_, name("THREADS"));
    for (const Dim& extent : {channels_, product_.m()}) e_.note(extent);
    const std::string k = e_.text(product_.k());
    const std::string rows =
        fmt::format("({} * {})", as_factor(product_.m()), as_factor(channels_));
    w.line("const Index row = blockIdx.x % {0}, part = blockIdx.x / {0};", rows);
    w.line("const Index mi = row / {0}, channel = row % {0};", as_factor(channels_));
    w.raw(row);
    w.line("const Index begin = part * chunk;");
    w.line("const Index end = {0} - begin < chunk ? {0} : begin + chunk;", k);
    w.line("float total[{}] = {{}};", taps_);
    write_walk(w, step);
    {
      const auto loop = w.unrolled("for (int tap = 0; tap < {}; ++tap)", taps_);
      w.line("total[tap] = reduce_block<{}>(total[tap], Add(), slots[tap]);", name("THREADS"));
    }
    {
      const auto first = w.block("if (threadIdx.x == 0)");
      w.line("const Index at = static_cast<Index>(blockIdx.x) * {};", taps_);
      w.line("#pragma unroll");
      w.line("for (int tap = 0; tap < {}; ++tap) sums[at + tap] = total[tap];", taps_);
    }
    kernel_.need({"Add", "reduce_block"});
    return kernel_.function(
        e_, fmt::format("{}: a thread adds up {} taps over a part of k.", kernel_.result(), taps_),
        region_.name, "typename Index", name("THREADS"), w.text(),
        {{"Index chunk", name("CHUNK")}, {"float* __restrict__ sums", sums()}});
  }

  /// Moves from term to term without a division: every axis has its own part of the step.
  void write_walk(CudaWriter& w, const std::string& step) {
    const std::vector<Axis>& axes = k_.axes.axes;
    const std::string threads = name("THREADS");
    std::string left = "(begin + threadIdx.x)", stride = threads;
    for (size_t a = axes.size(); a-- > 0;) {
      const std::string extent = a == 0 ? "" : as_factor(axes[a].extent);
      if (a > 0) e_.note(axes[a].extent);
      const std::string rest = a == 0 ? "" : " % " + extent;
      w.line("Index {} = {}{};", axes[a].name, left, rest);
      w.line("const Index {}_step = {}{};", axes[a].name, stride, rest);
      left += " / " + extent;
      stride += " / " + extent;
    }
    const auto loop = w.block("for (Index ki = begin + threadIdx.x; ki < end; ki += {})", threads);
    w.raw(step);
    for (size_t a = axes.size(); a-- > 0;) {
      w.line("{0} += {0}_step;", axes[a].name);
      if (a == 0) continue;
      const auto over = w.block("if ({} >= {})", axes[a].name, as_factor(axes[a].extent));
      w.line("{} -= {};", axes[a].name, as_factor(axes[a].extent));
      w.line("++{};", axes[a - 1].name);
    }
  }

  DeviceFunction write_finish() {
    Emitter e(region_, 1);
    product_.prepare(e);
    std::vector<std::string> variables = product_.batch().variables();
    for (const std::string& name : product_.result().variables()) variables.push_back(name);
    e.open(variables, 0, 0);
    const int scope = e.open({}, 1, 0);
    product_.write_stores(e, scope, "total");
    const std::string result = e.close(), text = e.close();
    e.note(product_.m());
    e.note(product_.n());
    CudaWriter w(1);
    w.raw(e.at(0).text());
    const std::string m = as_factor(product_.m()), n = as_factor(product_.n());
    w.line("const Index i = static_cast<Index>(blockIdx.x) * 8 + threadIdx.x / 32;");
    w.line("const Index count = {} * {};", m, n);
    w.line("if (i >= count) return;");
    w.line("float total = 0;");
    w.line("for (Index c = threadIdx.x % 32; c < chunks; c += 32) total += sums[c * count + i];");
    w.line("total = reduce_lanes<32>(total, Add());");
    w.line("if (threadIdx.x % 32 > 0) return;");
    w.line("const Index mi = i / {0}, ni = i % {0}, batch = 0;", n);
    for (const AxisRun* run :
         {&product_.batch(), &product_.result().row, &product_.result().column}) {
      run->write(e, w);
    }
    w.raw(text);
    w.raw(result);
    return kernel_.function(
        e, kernel_.result() + ": the parts along k added up, a warp for each result.",
        region_.name + "_finish", "typename Index", "256", w.text(),
        {{"Index chunks", name("CHUNKS")}, {"const float* __restrict__ sums", sums()}});
  }

  void add_plan(const DeviceFunction& add, const DeviceFunction& finish) {
    const std::string k = product_.k().text();
    const std::string m = as_factor(product_.m()), n = as_factor(product_.n());
    const std::string rows = fmt::format("{} * {}", m, as_factor(channels_));
    const std::string threads = kernel_.tune("THREADS", {256, 128});
    const std::string waves = kernel_.tune("WAVES", {8, 16, 4});
    kernel_.let("WISH", fmt::format("max(1, min(ceil_div({}, {} * 4), {} * SMS / max(1, {})))", k,
                                    threads, waves, rows));
    kernel_.let("CHUNK", fmt::format("max(1, ceil_div({}, {}))", k, name("WISH")));
    const std::string chunks =
        kernel_.let("CHUNKS", fmt::format("ceil_div({}, {})", k, name("CHUNK")));
    kernel_.scratch(sums(), DType::Fp32, fmt::format("{} * {} * {}", chunks, m, n));
    kernel_.methods({"memory.split_k_parallel_reduce", "compute.reduction"});
    kernel_.each_index([&](const Instance& instance) -> std::vector<Launch> {
      return {add.launch(instance.index, fmt::format("{} * {}", chunks, rows), threads),
              finish.launch(instance.index, fmt::format("ceil_div({} * {}, 8)", m, n), "256")};
    });
  }

  Product product_;
  int64_t taps_;
  Dim channels_;
  AxisRun k_;
  Emitter e_;
};

bool is_one(const Dim& dim) { return dim.is_constant() && dim.value() == 1; }

bool tap_sums_apply(const Region& region, const TargetContext&) {
  const auto product = product_of(region);
  if (!product || !in_float(product->node().dtype) || !is_one(product->batches())) return false;
  const int64_t taps = taps_of(region, product->node());
  const Dim channels = floor_div(product->n(), Dim(taps));
  return taps > 1 && (channels * Dim(taps)).same_text(product->n()) &&
         channels.value() <= kMostChannels && product->m().value() <= kMostRows &&
         product->k().value() >= kLongEnough && reads_windows(region, product->node().inputs[1]);
}

bool tap_sums_preferred(const Region& region, const TargetContext& context) {
  return tap_sums_apply(region, context) && product_of(region)->n().value() <= kNarrowTile;
}

}  // namespace

Schedules tap_sums_schedules() {
  return {{"tap_sums", "a thread adds up the taps of a channel, several blocks along k",
           tap_sums_apply, emit_by<TapSums>, tap_sums_preferred}};
}

}  // namespace kw::generate
