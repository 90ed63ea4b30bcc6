// Rows that are too long for a block's registers but fit in its shared memory: read once, and kept
// there for every pass.
#include <fmt/core.h>

#include <algorithm>

#include "core/text.h"
#include "emit/emit.h"
#include "rows/row_kernel.h"
#include "rows/schedules.h"

namespace kw::generate {

namespace {

constexpr int64_t kShortRow = 4096;  // columns that registers hold easily
constexpr int kSlots = 2048;         // bytes for the reductions' own slots

class SharedRows : ScheduleFrame {
 public:
  SharedRows(const Region& region, const TargetContext& context)
      : ScheduleFrame(region, context), plan_(*plan_rows(region)) {}

  Kernel emit() {
    RowKernel trial(region_, plan_, Team::Block, false, nullptr);
    trial.body();
    RowKernel kept(region_, plan_, Team::Block, false, &trial.seen());
    kept.keep_in_shared();
    RowKernel again(region_, plan_, Team::Block, false, nullptr);
    const DeviceFunction kept_function = write(kept, region_.name, "kept in shared memory");
    const DeviceFunction long_function =
        write(again, region_.name + "_long", "read again in every pass");
    add_knobs(kept);
    add_variants(kept, kept_function, long_function);
    return kernel_.take();
  }

 private:
  DeviceFunction write(RowKernel& row, const std::string& function, const char* how) {
    const std::string body = row.body();
    kernel_.need({"load_pack"});
    return kernel_.function(
        row.emitter(), fmt::format("{}: one block per row, which is {}.", kernel_.result(), how),
        function, "typename Index, int kVec", name("THREADS"), body);
  }

  void add_knobs(const RowKernel& row) {
    int64_t narrowest = 16;
    std::vector<std::string> bytes;
    for (const Buffer& buffer : row.shared_rows()) {
      const int64_t size = tensor::dtype_size(buffer.dtype);
      narrowest = std::min(narrowest, size);
      bytes.push_back(
          fmt::format("16 * ceil_div(({}) * {}, 16)", plan_.column_count().text(), size));
    }
    std::vector<int64_t> vecs = {16 / narrowest};
    if (vecs[0] > 1) vecs.push_back(1);
    kernel_.tune("THREADS", {512, 1024, 256});
    kernel_.vectors(vecs);
    kernel_.switch_method("memory.tiling_smem", "SHARED");
    kernel_.methods({"compute.reduction", "compute.warp_shuffle", "memory.kernel_fusion"});
    kernel_.let("ROW_BYTES", join(bytes, " + "));
  }

  void add_variants(const RowKernel& row, const DeviceFunction& kept, const DeviceFunction& again) {
    const std::string vec = name("VEC"), threads = name("THREADS"), bytes = name("ROW_BYTES");
    const std::string grid = fmt::format("min({}, 2147483647)", plan_.row_count().text());
    std::vector<std::string> aligned = row.packs().conditions(vec);
    const Dim& inner = row.columns().back().extent;
    aligned.push_back(fmt::format("({}) % {} == 0", inner.text(), vec));
    aligned.push_back(fits_int(region_));
    std::vector<std::string> fits = aligned;
    fits.push_back(name("SHARED") + " == 1");
    fits.push_back(fmt::format("{} <= SMEM_MAX - {}", bytes, kSlots));
    kernel_.variant(fits, {kept.launch("int, " + vec, grid, threads, bytes)});
    kernel_.variant(aligned, {again.launch("int, " + vec, grid, threads)});
    kernel_.variant({}, {again.launch("long long, 1", grid, threads)});
  }

  RowPlan plan_;
};

bool shared_rows_apply(const Region& region, const TargetContext& context) {
  const std::optional<RowPlan> plan = plan_rows(region);
  if (!plan || !plan->is_contiguous()) return false;
  const int64_t columns = plan->column_count().value();
  if (columns <= kShortRow || columns > context.target.shared_per_block_optin) return false;
  RowKernel trial(region, *plan, Team::Block, false, nullptr);
  trial.body();
  RowKernel kept(region, *plan, Team::Block, false, &trial.seen());
  kept.keep_in_shared();
  kept.body();
  int64_t bytes = 0;
  for (const Buffer& buffer : kept.shared_rows())
    bytes += columns * tensor::dtype_size(buffer.dtype);
  return bytes > 0 && bytes <= context.target.shared_per_block_optin - kSlots;
}

}  // namespace

Schedules shared_row_schedules() {
  return {{"shared_row", "a block per row, read once into shared memory", shared_rows_apply,
           emit_by<SharedRows>}};
}

}  // namespace kw::generate
