// Rows too long for a block's registers, and short enough for its shared memory: read once, kept
// there, and found again by every pass.
#include <fmt/core.h>

#include <algorithm>

#include "core/text.h"
#include "emit/emit.h"
#include "rows/row_kernel.h"
#include "rows/schedules.h"

namespace kw::generate {

namespace {

constexpr int64_t kShortRow = 4096;  // columns that registers hold easily
constexpr int kSlots = 2048;         // bytes left for the reductions' own slots

class SharedRows {
 public:
  explicit SharedRows(const Region& region) : region_(region), plan_(*plan_rows(region)) {}

  Kernel emit() {
    RowKernel trial(region_, plan_, Team::Block, false, nullptr);
    trial.body();
    RowKernel kept(region_, plan_, Team::Block, false, &trial.seen());
    kept.keep_in_shared();
    RowKernel again(region_, plan_, Team::Block, false, nullptr);
    Kernel kernel;
    const std::vector<std::string> kept_args =
        write(kernel, kept, region_.name, "kept in shared memory");
    const std::vector<std::string> args =
        write(kernel, again, region_.name + "_long", "read again in every pass");
    add_knobs(kernel, kept);
    add_variants(kernel, kept, kept_args, args);
    return kernel;
  }

 private:
  std::string tune(const char* name) const { return name + region_.suffix; }

  std::vector<std::string> write(Kernel& kernel, RowKernel& row, const std::string& name,
                                 const char* how) {
    const std::string body = row.body();
    const KernelSignature head =
        signature_of(row.emitter(), name, "typename Index, int kVec", tune("THREADS"));
    kernel.source += fmt::format("{}// {}: one block per row, which is {}.\n{} {{\n{}}}\n",
                                 kernel.source.empty() ? "" : "\n", region_.stores[0].to.name, how,
                                 head.text, body);
    const auto& functions = row.emitter().functions();
    kernel.functions.insert(functions.begin(), functions.end());
    kernel.functions.insert("load_pack");
    return head.args;
  }

  void add_knobs(Kernel& kernel, const RowKernel& row) {
    int64_t narrowest = 16;
    for (const Buffer& buffer : row.shared_rows()) {
      narrowest = std::min<int64_t>(narrowest, tensor::dtype_size(buffer.dtype));
    }
    std::vector<int64_t> vecs = {16 / narrowest};
    if (vecs[0] > 1) vecs.push_back(1);
    kernel.tunes.push_back({tune("THREADS"), {512, 1024, 256}, ""});
    kernel.tunes.push_back({tune("VEC"), vecs, ""});
    kernel.tunes.push_back({tune("SHARED"), {1, 0}, ""});
    if (vecs.size() > 1) {
      kernel.methods.push_back(
          {"memory.vectorized_access", tune("VEC") + " > 1", tune("VEC") + "=1"});
    }
    kernel.methods.push_back(
        {"memory.tiling_smem", tune("SHARED") + " == 1", tune("SHARED") + "=0"});
    kernel.methods.push_back({"compute.reduction", "", ""});
    kernel.methods.push_back({"compute.warp_shuffle", "", ""});
    kernel.methods.push_back({"memory.kernel_fusion", "", ""});
    std::vector<std::string> bytes;
    for (const Buffer& buffer : row.shared_rows()) {
      bytes.push_back(fmt::format("16 * ceil_div(({}) * {}, 16)", plan_.column_count().text(),
                                  tensor::dtype_size(buffer.dtype)));
    }
    kernel.lets.emplace_back(tune("ROW_BYTES"), join(bytes, " + "));
  }

  void add_variants(Kernel& kernel, const RowKernel& row, const std::vector<std::string>& kept_args,
                    const std::vector<std::string>& args) {
    const std::string vec = tune("VEC"), rows = plan_.row_count().text();
    const std::string grid = fmt::format("min({}, 2147483647)", rows);
    std::vector<std::string> aligned = row.packs().conditions(vec);
    const Dim& inner = row.columns().back().extent;
    aligned.push_back(fmt::format("({}) % {} == 0", inner.text(), vec));
    aligned.push_back(fits_int(region_));
    std::vector<std::string> kept = aligned;
    kept.push_back(tune("SHARED") + " == 1");
    kept.push_back(fmt::format("{} <= SMEM_MAX - {}", tune("ROW_BYTES"), kSlots));
    kernel.variants.push_back({all_of(kept),
                               {{fmt::format("{}<int, {}>", region_.name, vec), grid,
                                 tune("THREADS"), tune("ROW_BYTES"), kept_args}}});
    const std::string loose = region_.name + "_long";
    kernel.variants.push_back(
        {all_of(aligned),
         {{fmt::format("{}<int, {}>", loose, vec), grid, tune("THREADS"), "", args}}});
    kernel.variants.push_back({"", {{loose + "<long long, 1>", grid, tune("THREADS"), "", args}}});
  }

  const Region& region_;
  RowPlan plan_;
};

}  // namespace

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

Kernel shared_rows_emit(const Region& region, const TargetContext&) {
  return SharedRows(region).emit();
}

}  // namespace kw::generate
