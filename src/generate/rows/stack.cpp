// The problem: some row programs have rows across memory (softmax over channels, statistics over a
// batch). The choice: adjacent threads take adjacent rows, so that every step along the columns is
// one coalesced access of full sectors. The alternative, transposing first, would read and write
// the tensor once more. The cost: two schedules with their own tunables:
// - stacked_rows: a block has WIDTH * kVec rows and several layers of threads. The columns are in
//   registers if they fit, otherwise every pass reads them again.
// - stacked_split: for few long rows; several blocks share them, one launch per pass.
#include <fmt/core.h>

#include <algorithm>

#include "core/text.h"
#include "emit/emit.h"
#include "rows/schedules.h"
#include "rows/stack_kernel.h"

namespace kw::generate {

namespace {

constexpr int64_t kStackSegment = 128;  // adjacent bytes that a layer should read
constexpr int64_t kElements = 32;       // elements that a thread should keep
constexpr int64_t kLongToSplit = 2048;

/// Writes the plan lines for the kernels.
class StackSchedule : ScheduleFrame {
 public:
  StackSchedule(const Region& region, const TargetContext& context, bool split)
      : ScheduleFrame(region, context), split_(split), plan_(*plan_rows(region)) {
    again_ = plan_;
    const std::optional<RowPlan> online = plan_online(region, plan_);
    if (online && online->rescaled.empty()) again_ = *online;
    if (split) plan_ = again_;
  }

  Kernel emit() {
    if (split_) {
      for (size_t pass = 0; pass <= plan_.passes.size(); ++pass) write_pass(pass);
    } else {
      write_whole();
    }
    add_knobs();
    add_methods();
    if (split_) {
      add_parts();
    } else {
      add_variants();
    }
    return kernel_.finish();
  }

  /// Whether too few blocks would share the work.
  bool is_narrow() {
    StackKernel trial(region_, plan_, Reading::Again, nullptr);
    trial.body();
    remember(trial);
    return plan_.column_count().value() > kLongToSplit &&
           plan_.row_count().value() < 2 * context_.target.default_sms * width() * vec();
  }

 private:
  void write_whole() {
    StackKernel trial(region_, plan_, Reading::Once, nullptr);
    trial.body();
    StackKernel once(region_, plan_, Reading::Once, &trial.seen());
    StackKernel again(region_, again_, Reading::Again, nullptr);
    write(once, region_.name, "typename Index, int kVec, int kItems",
          "A stack of threads per few rows, which are read once into registers.");
    write(again, region_.name + "_long", "typename Index, int kVec",
          "The same, read again in every pass.");
  }

  void write_pass(size_t pass) {
    StackKernel stack(region_, plan_, Reading::Parts, nullptr);
    stack.only_pass(pass);
    const bool last = pass == plan_.passes.size();
    write(stack, last ? region_.name : fmt::format("{}_pass{}", region_.name, pass + 1),
          "typename Index, int kVec",
          last ? "Joins the partial results and stores what follows from them."
               : "Partial results of one part of the columns.");
  }

  void write(StackKernel& stack, const std::string& function, const std::string& templates,
             const char* what) {
    const std::string body = stack.body();
    Parameters more = stack.parameters();
    if (split_) more.emplace_back("Index parts", name("PARTS"));
    kernel_.need({"load_pack"});
    steps_.push_back(
        kernel_.function(stack.emitter(), what, function, templates, name("THREADS"), body, more));
    remember(stack);
  }

  void remember(const StackKernel& stack) {
    for (const std::string& condition : stack.packs().conditions(name("VEC"))) {
      aligned_.push_back(condition);
    }
    narrowest_ = stack.packs().narrowest(narrowest_);
    loads_ = std::max(loads_, stack.packs().loads().size());
    inner_ = stack.inner_extent();
  }

  /// The elements of a pack: 16 bytes, or fewer if the number of adjacent rows is not a multiple.
  int64_t vec() const {
    int64_t vec = loads_ == 0 ? 1 : std::max<int64_t>(1, 16 / narrowest_);
    while (vec > 1 && inner_.value() % vec != 0) vec /= 2;
    return vec;
  }

  /// The threads of a layer: together they read one segment, if the row count allows.
  int64_t width() const {
    int64_t width = std::max<int64_t>(1, kStackSegment / (vec() * narrowest_));
    while (width > 1 && width / 2 * vec() >= inner_.value()) width /= 2;
    if (split_) return width;
    // Few columns need few layers. With many columns, more layers are better than whole segments.
    while (width < 128 && width * wanted_layers() < 128) width *= 2;
    while (width * vec() * narrowest_ > 64 && width * wanted_layers() > 512) width /= 2;
    while (width * vec() * narrowest_ > 32 && width * wanted_layers() > 1024) width /= 2;
    return width;
  }

  int64_t wanted_layers() const {
    const int64_t items = std::min<int64_t>(kElements / vec(), 8);
    int64_t layers = 1;
    while (layers * items < plan_.column_count().value()) layers *= 2;
    return layers;
  }

  void add_knobs() {
    using Values = std::vector<int64_t>;
    const int64_t best = vec(), wide = width();
    kernel_.vectors(best > 1 ? Values{best, 1} : Values{1});
    if (split_) {
      kernel_.tune("WIDTH", {wide, wide * 2});
      kernel_.tune("THREADS", {256, 512});
      kernel_.tune("WAVES", {4, 2, 8});
    } else {
      const int64_t threads = std::clamp<int64_t>(wide * wanted_layers(), 128, 1024);
      Values widths = {wide, wide * 2};
      if (wide > 1) widths.push_back(wide / 2);
      kernel_.tune("WIDTH", widths);
      kernel_.tune("THREADS", {threads, threads > 256 ? threads / 2 : threads * 2});
      kernel_.tune("REGISTERS", {1, 0});
    }
  }

  void add_methods() {
    if (split_) {
      kernel_.method("memory.split_k_parallel_reduce");
    } else {
      kernel_.method("compute.ilp_unroll_register_tile", name("REGISTERS") + " == 1",
                     name("REGISTERS") + "=0");
    }
    kernel_.methods({"memory.coalesced_access", "compute.reduction", "compute.warp_shuffle"});
    if (interior(region_).size() > 1) kernel_.method("memory.kernel_fusion");
  }

  std::string tiles(const std::string& vec) const {
    return fmt::format("ceil_div({}, {} * {})", plan_.row_count().text(), name("WIDTH"), vec);
  }

  std::vector<std::string> aligned() const {
    std::vector<std::string> all = aligned_;
    all.push_back(fmt::format("{} % {} == 0", as_factor(inner_), name("VEC")));
    all.push_back(fits_int(region_));
    return all;
  }

  void add_variants() {
    const std::string vec = name("VEC"), threads = name("THREADS");
    const std::string layers = name("LAYERS"), on = name("REGISTERS") + " == 1";
    const DeviceFunction &once = steps_[0], &again = steps_[1];
    const std::string items = kernel_.items(
        "LAYERS",
        fmt::format("ceil_div({}, {} / {})", plan_.column_count().text(), threads, name("WIDTH")));
    const int64_t most = loads_ <= 1 ? 16 : loads_ <= 2 ? 8 : 4;
    std::vector<std::string> kept = aligned();
    kept.insert(kept.end(), {on, fmt::format("{} <= {}", layers, most)});
    kernel_.variant(kept,
                    {once.launch(fmt::format("int, {}, {}", vec, items), tiles(vec), threads)});
    kernel_.variant({fits_int(region_), on, layers + " <= 16"},
                    {once.launch("int, 1, " + items, tiles("1"), threads)});
    kernel_.variant(aligned(), {again.launch("int, " + vec, tiles(vec), threads)});
    kernel_.variant({}, {again.launch("long long, 1", tiles("1"), threads)});
  }

  void add_parts() {
    const std::string rows = plan_.row_count().text(), columns = plan_.column_count().text();
    const std::string vec = name("VEC"), fits = fits_int(region_);
    kernel_.let("PARTS",
                fmt::format("max(1, min({} * SMS / max({}, 1), ceil_div({}, {} / {} * 4)))",
                            name("WAVES"), tiles(vec), columns, name("THREADS"), name("WIDTH")));
    for (const auto& pass : plan_.passes) {
      for (const NodeId id : pass) {
        kernel_.scratch(partials_name(region_, id), partial_dtype(region_.node(id).dtype),
                        fmt::format("{}, {}", name("PARTS"), rows));
      }
    }
    const auto launches = [&](const std::string& index, const std::string& packed) {
      std::vector<Launch> all;
      for (const DeviceFunction& step : steps_) {
        const bool few = &step == &steps_.back() && plan_.full_stores.empty();
        all.push_back(step.launch(index + ", " + packed,
                                  tiles(packed) + (few ? "" : ", " + name("PARTS")),
                                  name("THREADS")));
      }
      return all;
    };
    kernel_.variant(aligned(), launches("int", vec));
    if (!fits.empty()) kernel_.variant({fits}, launches("int", "1"));
    kernel_.variant({}, launches("long long", "1"));
  }

  bool split_;
  RowPlan plan_, again_;  // for columns in registers; for columns that passes read again
  std::vector<DeviceFunction> steps_;
  std::vector<std::string> aligned_;
  int64_t narrowest_ = 16;
  size_t loads_ = 0;
  Dim inner_{1};
};

bool stacked_rows_apply(const Region& region, const TargetContext&) {
  const std::optional<RowPlan> plan = plan_rows(region);
  return plan && plan->lies_across();
}

bool stacked_split_applies(const Region& region, const TargetContext& context) {
  return stacked_rows_apply(region, context) && StackSchedule(region, context, true).is_narrow();
}

}  // namespace

Schedules stack_schedules() {
  return {{"stacked_split", "several blocks per row of those that lie across, one launch per pass",
           stacked_split_applies, emit_by<StackSchedule, true>, stacked_split_applies},
          {"stacked_rows", "a stack of threads per few neighbouring rows that lie across memory",
           stacked_rows_apply, emit_by<StackSchedule, false>, stacked_rows_apply}};
}

}  // namespace kw::generate
