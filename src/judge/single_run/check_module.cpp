// `check` must say whether a module compiles and what it costs, without running it. It finds dims
// that reach each launch group, compiles each group with its tunables and reads the resources. Each
// variant is compiled twice: to a cubin for registers and spills, and to PTX for the virtual GPU,
// which then says whether it knows every instruction. Without a virtual GPU the second compile is
// skipped. Only one set of tunable values is checked by default: every further set costs these
// compiles again for each group. A guard that no probe reaches is reported without an example, not
// as an error.
#include "single_run/check_module.h"

#include <fmt/core.h>

#include <algorithm>

#include "arch/arch.h"
#include "binding/probe.h"
#include "machine/best_image.h"
#include "os/interrupt.h"

namespace kw::single_run {

namespace {

constexpr size_t kWholeSpace = 100000;

const ports::KernelResources* resources_of(const ports::Compiled& compiled,
                                           const std::string& entry) {
  for (const ports::CompiledKernel& kernel : compiled.kernels) {
    if (kernel.entry == entry) return &kernel.resources;
  }
  return nullptr;
}

LaunchCheck check_launch(const kernel::Launch& launch, const ports::Compiled& compiled,
                         const arch::Target& target) {
  LaunchCheck check{launch.kernel, launch.grid, launch.block, launch.shared_bytes, {}, -1, -1};
  const ports::KernelResources* resources = resources_of(compiled, launch.entry);
  if (resources == nullptr) return check;
  check.resources = *resources;
  if (resources->registers < 0) return check;
  const auto threads = static_cast<int>(launch.block.count());
  const int64_t shared = launch.shared_bytes + std::max<int64_t>(resources->static_shared, 0);
  check.blocks_per_sm = arch::resident_blocks(target, threads, resources->registers, shared);
  check.occupancy = static_cast<double>(check.blocks_per_sm) * threads / target.threads_per_sm;
  return check;
}

// A repeated launch (a `repeat` line) is one row.
bool same_row(const LaunchCheck& a, const LaunchCheck& b) {
  return a.kernel == b.kernel && a.grid == b.grid && a.block == b.block &&
         a.dynamic_shared == b.dynamic_shared;
}

void check_plan(const kernel::Module& module, const binding::Probe& probe,
                const ports::Compiled& compiled, const arch::Target& target, VariantCheck* check) {
  const auto program =
      kernel::instantiate(module, probe.bindings, probe.selection, kernel_infos(compiled));
  if (!program) {
    check->plan_error = program.error().message;
    return;
  }
  for (const kernel::Launch& launch : program->launches) {
    LaunchCheck row = check_launch(launch, compiled, target);
    const bool seen = std::any_of(check->launches.begin(), check->launches.end(),
                                  [&](const LaunchCheck& other) { return same_row(row, other); });
    if (!seen) check->launches.push_back(std::move(row));
  }
}

// The virtual GPU needs PTX. The resources on a GPU come from the cubin.
Status ask_virtual_gpu(const ports::CompileRequest& request, ports::Compiler& compiler,
                       ports::Device* device, VariantCheck* check) {
  if (device == nullptr) return Done{};
  const ports::CompileOutcome outcome = KW_TRY(compiler.compile(request));
  if (!outcome.compiled) {
    check->failed = outcome.failed;
    return Done{};
  }
  const auto loaded = device->load(*outcome.compiled);
  if (!loaded) check->virtual_gpu = loaded.error().message;
  return Done{};
}

Result<VariantCheck> check_variant(const kernel::Module& module, const binding::Probe& probe,
                                   const CheckRequest& request, machine::BestImage& best,
                                   ports::Device* virtual_gpu, const arch::Target& target) {
  VariantCheck check;
  check.group = probe.selection.group;
  check.tunes = {probe.selection.defines.begin(), probe.selection.defines.end()};
  check.dims = probe.bindings.dims;
  const ports::CompileRequest wanted =
      ports::compile_request(module, probe.selection, request.target, request.timeout_seconds);
  const ports::CompileOutcome outcome = KW_TRY(best.compile(wanted));
  if (outcome.failed) {
    check.compiler = outcome.failed->compiler;
    check.failed = outcome.failed;
    return check;
  }
  check.compiler = outcome.compiled->compiler;
  check.warnings = outcome.compiled->messages;
  check_plan(module, probe, *outcome.compiled, target, &check);
  KW_TRY(ask_virtual_gpu(wanted, best.compiler(), virtual_gpu, &check));
  return check;
}

std::vector<std::map<std::string, int64_t>> assignments(const kernel::Module& module,
                                                        const CheckRequest& request,
                                                        CheckReport* report) {
  if (!request.all_tunes) return {request.bindings.tunes};
  std::vector<std::map<std::string, int64_t>> all;
  // One more than the limit shows whether there are more. With fixed tunables most of the space is
  // skipped.
  const size_t reach = request.bindings.tunes.empty() ? request.tune_limit + 1 : kWholeSpace;
  for (std::map<std::string, int64_t>& tunes : kernel::tune_space(module, reach)) {
    const bool agrees = std::all_of(request.bindings.tunes.begin(), request.bindings.tunes.end(),
                                    [&](const auto& said) {
                                      const auto it = tunes.find(said.first);
                                      return it != tunes.end() && it->second == said.second;
                                    });
    if (!agrees) continue;
    if (all.size() == request.tune_limit) {
      report->assignments_cut = true;
      break;
    }
    all.push_back(std::move(tunes));
  }
  return all.empty() ? std::vector<std::map<std::string, int64_t>>{request.bindings.tunes} : all;
}

}  // namespace

bool CheckReport::ok() const {
  return std::all_of(variants.begin(), variants.end(),
                     [](const VariantCheck& v) { return v.ok(); });
}

Result<CheckReport> check_module(const kernel::Module& module, const CheckRequest& request,
                                 ports::Compiler& compiler, ports::Device* virtual_gpu,
                                 const Progress& progress) {
  CheckReport report;
  report.target = request.target;
  report.compiler = compiler.name();
  report.dims = module.dims();
  for (const kernel::Group& group : module.groups) {
    report.groups.push_back({group.when ? group.when->text : "", group.line, std::nullopt});
  }
  const arch::Target target = KW_TRY(arch::find_target(request.target));
  machine::BestImage best(compiler, ports::ImageKind::Cubin);
  for (const std::map<std::string, int64_t>& tunes : assignments(module, request, &report)) {
    binding::BindingRequest names = request.bindings;
    names.tunes = tunes;
    const kernel::Bindings fixed = KW_TRY(binding::bind_names(module, names, {}, target, {}));
    const std::vector<binding::Probe> probes = KW_TRY(binding::probe_groups(module, fixed));
    ++report.assignments;
    for (const binding::Probe& probe : probes) {
      KW_TRY(os::check_interrupted());
      if (progress)
        progress(
            fmt::format("compiling {} (variant {})", module.file_name, report.variants.size() + 1));
      report.variants.push_back(
          KW_TRY(check_variant(module, probe, request, best, virtual_gpu, target)));
      auto& group = report.groups[static_cast<size_t>(probe.selection.group)];
      if (!group.example) group.example = probe.bindings.dims;
    }
  }
  report.resources_note = best.note();
  report.notes = compiler.notes();
  return report;
}

}  // namespace kw::single_run
