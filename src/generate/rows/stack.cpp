// Schedules of row programs whose rows lie across memory (softmax over channels, statistics over a
// batch): neighbouring threads take neighbouring rows, so that every step along the columns is one
// coalesced access of full sectors.
//
// - stacked_rows: a block has WIDTH * kVec rows and as many layers as its threads give; the columns
//   are read once into registers where they fit, and read again in every pass where they do not.
// - stacked_split: few long rows: several blocks share them, one launch per pass.
#include <fmt/core.h>

#include <algorithm>

#include "core/text.h"
#include "emit/emit.h"
#include "rows/schedules.h"
#include "rows/stack_kernel.h"

namespace kw::generate {

using graph::NodeId;

namespace {

constexpr int64_t kStackSegment = 128;  // bytes side by side that a layer should read
constexpr int64_t kElements = 32;       // that a thread likes to keep
constexpr int64_t kLongToSplit = 2048;

/// The plan lines around the kernels.
class StackSchedule {
 public:
  StackSchedule(const Region& region, const TargetContext& context, bool split)
      : region_(region), context_(context), split_(split), plan_(*plan_rows(region)) {
    again_ = plan_;
    const std::optional<RowPlan> online = plan_online(region, plan_);
    if (online && online->rescaled.empty()) again_ = *online;
    if (split) plan_ = again_;
  }

  Kernel emit() {
    Kernel kernel;
    if (split_) {
      for (size_t pass = 0; pass <= plan_.passes.size(); ++pass) write_pass(kernel, pass);
    } else {
      write_whole(kernel);
    }
    add_knobs(kernel);
    add_methods(kernel);
    if (split_) {
      add_parts(kernel);
    } else {
      add_variants(kernel);
    }
    finalize(kernel, context_);
    return kernel;
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
  std::string tune(const char* name) const { return name + region_.suffix; }

  void write_whole(Kernel& kernel) {
    StackKernel trial(region_, plan_, Reading::Once, nullptr);
    trial.body();
    StackKernel once(region_, plan_, Reading::Once, &trial.seen());
    StackKernel again(region_, again_, Reading::Again, nullptr);
    write(kernel, once, region_.name, "typename Index, int kVec, int kItems",
          "A stack of threads per few rows, which are read once into registers.");
    write(kernel, again, region_.name + "_long", "typename Index, int kVec",
          "The same, read again in every pass.");
  }

  void write_pass(Kernel& kernel, size_t pass) {
    StackKernel stack(region_, plan_, Reading::Parts, nullptr);
    stack.only_pass(pass);
    const bool last = pass == plan_.passes.size();
    write(kernel, stack, last ? region_.name : fmt::format("{}_pass{}", region_.name, pass + 1),
          "typename Index, int kVec",
          last ? "Joins the partial results and stores what follows from them."
               : "Partial results of one part of the columns.");
  }

  void write(Kernel& kernel, StackKernel& stack, const std::string& name,
             const std::string& templates, const char* what) {
    const std::string body = stack.body();
    auto more = stack.parameters();
    if (split_) more.emplace_back("Index parts", tune("PARTS"));
    const KernelSignature head =
        signature_of(stack.emitter(), name, templates, tune("THREADS"), more);
    if (!kernel.source.empty()) kernel.source += "\n";
    kernel.source += fmt::format("// {}\n{} {{\n{}}}\n", what, head.text, body);
    const auto& functions = stack.emitter().functions();
    kernel.functions.insert(functions.begin(), functions.end());
    kernel.functions.insert("load_pack");
    steps_.push_back({name, head.args});
    remember(stack);
  }

  void remember(const StackKernel& stack) {
    for (const std::string& condition : stack.packs().conditions(tune("VEC"))) {
      aligned_.push_back(condition);
    }
    narrowest_ = stack.packs().narrowest(narrowest_);
    loads_ = std::max(loads_, stack.packs().loads().size());
    inner_ = stack.inner_extent();
  }

  /// Elements of a pack: 16 bytes, or less where rows end before.
  int64_t vec() const {
    int64_t vec = loads_ == 0 ? 1 : std::max<int64_t>(1, 16 / narrowest_);
    while (vec > 1 && inner_.value() % vec != 0) vec /= 2;
    return vec;
  }

  /// Threads beside each other: a layer reads a segment, if there are so many neighbours.
  int64_t width() const {
    int64_t width = std::max<int64_t>(1, kStackSegment / (vec() * narrowest_));
    while (width > 1 && width / 2 * vec() >= inner_.value()) width /= 2;
    if (split_) return width;
    // Few columns need few layers; many need layers more than whole segments.
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

  void add_knobs(Kernel& kernel) {
    using Values = std::vector<int64_t>;
    const int64_t best = vec(), wide = width();
    kernel.tunes.push_back({tune("VEC"), best > 1 ? Values{best, 1} : Values{1}, ""});
    if (split_) {
      kernel.tunes.push_back({tune("WIDTH"), {wide, wide * 2}, ""});
      kernel.tunes.push_back({tune("THREADS"), {256, 512}, ""});
      kernel.tunes.push_back({tune("WAVES"), {4, 2, 8}, ""});
    } else {
      const int64_t threads = std::clamp<int64_t>(wide * wanted_layers(), 128, 1024);
      Values widths = {wide, wide * 2};
      if (wide > 1) widths.push_back(wide / 2);
      kernel.tunes.push_back({tune("WIDTH"), widths, ""});
      kernel.tunes.push_back(
          {tune("THREADS"), {threads, threads > 256 ? threads / 2 : threads * 2}, ""});
      kernel.tunes.push_back({tune("REGISTERS"), {1, 0}, ""});
    }
  }

  void add_methods(Kernel& kernel) {
    if (vec() > 1) {
      kernel.methods.push_back(
          {"memory.vectorized_access", tune("VEC") + " > 1", tune("VEC") + "=1"});
    }
    if (split_) {
      kernel.methods.push_back({"memory.split_k_parallel_reduce", "", ""});
    } else {
      kernel.methods.push_back({"compute.ilp_unroll_register_tile", tune("REGISTERS") + " == 1",
                                tune("REGISTERS") + "=0"});
    }
    kernel.methods.push_back({"memory.coalesced_access", "", ""});
    kernel.methods.push_back({"compute.reduction", "", ""});
    kernel.methods.push_back({"compute.warp_shuffle", "", ""});
    if (interior(region_).size() > 1) kernel.methods.push_back({"memory.kernel_fusion", "", ""});
  }

  std::string tiles(const std::string& vec) const {
    return fmt::format("ceil_div({}, {} * {})", plan_.row_count().text(), tune("WIDTH"), vec);
  }

  std::vector<std::string> aligned() const {
    std::vector<std::string> all = aligned_;
    all.push_back(fmt::format("{} % {} == 0", as_factor(inner_), tune("VEC")));
    all.push_back(fits_int(region_));
    return all;
  }

  void add_variants(Kernel& kernel) {
    const std::string vec = tune("VEC"), fits = fits_int(region_);
    const std::string packs = tune("LAYERS"), on = tune("REGISTERS") + " == 1";
    const auto launch = [&](size_t step, const std::string& arguments, const std::string& packed) {
      return Launch{fmt::format("{}<{}>", steps_[step].name, arguments), tiles(packed),
                    tune("THREADS"), "", steps_[step].args};
    };
    const std::string items =
        add_items(kernel, packs,
                  fmt::format("ceil_div({}, {} / {})", plan_.column_count().text(), tune("THREADS"),
                              tune("WIDTH")));
    const int64_t most = loads_ <= 1 ? 16 : loads_ <= 2 ? 8 : 4;
    std::vector<std::string> conditions = aligned();
    conditions.insert(conditions.end(), {on, fmt::format("{} <= {}", packs, most)});
    kernel.variants.push_back(
        {all_of(conditions), {launch(0, fmt::format("int, {}, {}", vec, items), vec)}});
    kernel.variants.push_back(
        {all_of({fits, on, packs + " <= 16"}), {launch(0, fmt::format("int, 1, {}", items), "1")}});
    kernel.variants.push_back({all_of(aligned()), {launch(1, "int, " + vec, vec)}});
    kernel.variants.push_back({"", {launch(1, "long long, 1", "1")}});
  }

  void add_parts(Kernel& kernel) {
    const std::string rows = plan_.row_count().text(), columns = plan_.column_count().text();
    kernel.lets.emplace_back(
        tune("PARTS"),
        fmt::format("max(1, min({} * SMS / max({}, 1), ceil_div({}, {} / {} * 4)))", tune("WAVES"),
                    tiles(tune("VEC")), columns, tune("THREADS"), tune("WIDTH")));
    for (const auto& pass : plan_.passes) {
      for (const NodeId id : pass) {
        kernel.scratch.push_back({partials_name(region_, id), partial_dtype(region_.node(id).dtype),
                                  fmt::format("{}, {}", tune("PARTS"), rows), ""});
      }
    }
    const auto launches = [&](const std::string& arguments, const std::string& packed) {
      std::vector<Launch> all;
      for (size_t i = 0; i < steps_.size(); ++i) {
        const bool few = i + 1 == steps_.size() && plan_.full_stores.empty();
        all.push_back({fmt::format("{}<{}>", steps_[i].name, arguments),
                       tiles(packed) + (few ? "" : ", " + tune("PARTS")), tune("THREADS"), "",
                       steps_[i].args});
      }
      return all;
    };
    const std::string vec = tune("VEC");
    kernel.variants.push_back({all_of(aligned()), launches("int, " + vec, vec)});
    if (const std::string fits = fits_int(region_); !fits.empty()) {
      kernel.variants.push_back({fits, launches("int, 1", "1")});
    }
    kernel.variants.push_back({"", launches("long long, 1", "1")});
  }

  struct Step {
    std::string name;
    std::vector<std::string> args;
  };

  const Region& region_;
  const TargetContext& context_;
  bool split_;
  RowPlan plan_, again_;  // of columns in registers, and of those that passes read again
  std::vector<Step> steps_;
  std::vector<std::string> aligned_;
  int64_t narrowest_ = 16;
  size_t loads_ = 0;
  Dim inner_{1};
};

}  // namespace

bool stacked_rows_apply(const Region& region, const TargetContext&) {
  const std::optional<RowPlan> plan = plan_rows(region);
  return plan && plan->lies_across();
}

bool stacked_split_applies(const Region& region, const TargetContext& context) {
  return stacked_rows_apply(region, context) && StackSchedule(region, context, true).is_narrow();
}

Kernel stacked_rows_emit(const Region& region, const TargetContext& context) {
  return StackSchedule(region, context, false).emit();
}

Kernel stacked_split_emit(const Region& region, const TargetContext& context) {
  return StackSchedule(region, context, true).emit();
}

}  // namespace kw::generate
