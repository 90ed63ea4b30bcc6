#include "evidence/evidence_build.h"

#include <algorithm>

#include "binding/load.h"
#include "os/interrupt.h"
#include "single_run/run_module.h"

namespace kw::evidence {
namespace {

task::Dims examined_dims(const EvidenceRequest& request) {
  if (!request.dims.empty()) return request.dims;
  const task::Task& task = *request.task;
  if (!task.benchmark_shapes.empty()) return task.benchmark_shapes.front();
  return task.correctness_shapes.empty() ? task::Dims() : task.correctness_shapes.front();
}

Error does_not_fit(const Error& error, const ExaminedBuild& build) {
  return input_error("{} cannot be examined at {}: {}", build.module.file_name,
                     task::dims_text(build.dims), error.message);
}

/// The image; not set with a reason if there is none. Input Error when the module does not compile.
Result<std::optional<ports::Compiled>> compile_as(ports::ImageKind kind, const ExaminedBuild& build,
                                                  const EvidenceRequest& request,
                                                  ports::Compiler& compiler, std::string* why) {
  ports::CompileRequest ask = ports::compile_request(
      build.module, build.selection, build.fixed.target.name, request.timeout_seconds);
  ask.image = kind;
  Result<ports::CompileOutcome> outcome = compiler.compile(ask);
  KW_TRY(os::check_interrupted());
  if (!outcome) {
    *why = outcome.error().message;
    return std::optional<ports::Compiled>();
  }
  if (outcome->failed)
    return input_error("{} does not compile: {}", build.module.file_name,
                       first_error(*outcome->failed));
  return std::move(outcome->compiled);
}

Status select_kernels(const EvidenceRequest& request, ExaminedBuild& build) {
  auto matching = shapes::match_tensors(build.module, *request.task, build.graph);
  if (!matching) return does_not_fit(matching.error(), build);
  build.matching = std::move(matching).value();
  auto bindings = shapes::bind_shape(build.module, build.matching, *request.task, build.graph,
                                     build.dims, build.fixed);
  if (!bindings) return does_not_fit(bindings.error(), build);
  build.bindings = std::move(bindings).value();
  auto selection = kernel::select(build.module, build.bindings);
  if (!selection) return does_not_fit(selection.error(), build);
  build.selection = std::move(selection).value();
  return Done{};
}

/// An image has every kernel of the text. Kernels that the call does not launch are removed.
void drop_idle(const kernel::Program& program, std::vector<profile::SassFunction>& functions) {
  const auto launched = [&](const profile::SassFunction& function) {
    return std::ranges::any_of(program.launches, [&](const kernel::Launch& launch) {
      return launch.entry == function.name;
    });
  };
  if (std::ranges::any_of(functions, launched))
    std::erase_if(functions, [&](const auto& one) { return !launched(one); });
}

}  // namespace

ports::KernelResources ExaminedBuild::resources(const kernel::Launch& launch) const {
  for (const ports::CompiledKernel& kernel : best().kernels) {
    if (kernel.entry == launch.entry) return kernel.resources;
  }
  return {};
}

Result<ExaminedBuild> build_examined(const EvidenceRequest& request,
                                     const timing::BenchTools& tools, bool with_ptx) {
  ExaminedBuild build;
  build.module = KW_TRY(binding::parse_module(request.module_text, request.module_name));
  build.dims = examined_dims(request);
  build.graph = KW_TRY(request.task->graph_at(build.dims));
  const ports::Device& device =
      tools.verify.gpu != nullptr ? *tools.verify.gpu : *tools.verify.virtual_gpu;
  const ports::DeviceInfo info = device.info();
  build.fixed.target =
      KW_TRY(arch::find_target(request.target.empty() ? info.target : request.target));
  build.fixed.sms = info.sms;
  build.fixed.l2_bytes = info.l2_bytes;
  build.fixed.tunes = request.tunes;
  KW_TRY(select_kernels(request, build));
  ports::Compiler& compiler = *tools.verify.compiler;
  build.cubin =
      KW_TRY(compile_as(ports::ImageKind::Cubin, build, request, compiler, &build.no_cubin));
  std::string no_ptx;
  if (with_ptx || !build.cubin)
    build.ptx = KW_TRY(compile_as(ports::ImageKind::Ptx, build, request, compiler, &no_ptx));
  if (!build.cubin && !build.ptx) return environment_error(no_ptx);
  auto program = kernel::instantiate(build.module, build.bindings, build.selection,
                                     single_run::kernel_infos(build.best()));
  if (!program) return does_not_fit(program.error(), build);
  build.program = std::move(program).value();
  return build;
}

Result<std::optional<std::vector<profile::SassFunction>>> code_of(const ExaminedBuild& build,
                                                                  const EvidenceRequest& request,
                                                                  std::string* why) {
  using Functions = std::optional<std::vector<profile::SassFunction>>;
  if (!build.cubin) {
    *why = "no compiler here makes a cubin: " + build.no_cubin;
    return Functions();
  }
  const compile::Disassembler tools =
      request.disassembler ? *request.disassembler : compile::find_disassembler();
  const auto text = compile::disassemble_once(build.cubin->image, tools, request.timeout_seconds);
  KW_TRY(os::check_interrupted());
  if (!text) {
    *why = text.error().message;
    return Functions();
  }
  auto functions = profile::parse_sass(*text);
  if (!functions) {
    *why = "the disassembler's output is not understood: " + functions.error().message;
    return Functions();
  }
  drop_idle(build.program, *functions);
  return Functions(std::move(functions).value());
}

}  // namespace kw::evidence
