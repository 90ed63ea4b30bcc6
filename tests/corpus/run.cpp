#include "run.h"

#include <fmt/core.h>

#include "arch/arch.h"
#include "core/text.h"
#include "kernel/instantiate.h"
#include "kernel/select.h"
#include "open_bits.h"
#include "single_run/run_module.h"

namespace kw::corpus {
namespace {

bool is_result(const kernel::Buffer& buffer) {
  return buffer.role == kernel::Role::Output || buffer.role == kernel::Role::Inout;
}

Error compile_error(const ports::CompileFailed& failed) {
  return input_error("does not compile with " + failed.compiler + ":\n" + failed.log);
}

}  // namespace

Result<Workbench::Image> Workbench::image_for(const kernel::Module& module,
                                              const kernel::Selection& selection) {
  std::string key = module.text + "\n" + join(selection.kernels, ";");
  for (const auto& [name, value] : selection.defines) key += fmt::format(";{}={}", name, value);
  if (const auto found = images_.find(key); found != images_.end()) return found->second;
  ports::CompileRequest request;
  request.source = module.text;
  request.file_name = module.file_name;
  request.target = target_;
  request.image = device_.info().image;
  request.defines = selection.defines;
  request.kernels = selection.kernels;
  const ports::CompileOutcome outcome = KW_TRY(compiler_.compile(request));
  if (outcome.failed) return compile_error(*outcome.failed);
  Image image;
  image.id = KW_TRY(device_.load(*outcome.compiled));
  image.kernels = single_run::kernel_infos(*outcome.compiled);
  if (outcome.compiled->kind == ports::ImageKind::Ptx)
    image.open_bits = open_bits(outcome.compiled->image);
  images_.emplace(std::move(key), image);
  return image;
}

Result<Prepared> Workbench::prepare(const kernel::Module& module, const Setting& setting) {
  kernel::Bindings bindings;
  bindings.dims = setting.dims;
  bindings.tunes = setting.tunes;
  bindings.scalars = setting.scalars;
  bindings.integer_scalars = setting.integer_scalars;
  bindings.absent = setting.absent;
  bindings.target = KW_TRY(arch::find_target(target_));
  const kernel::Selection selection = KW_TRY(kernel::select(module, bindings));
  const Image image = KW_TRY(image_for(module, selection));
  Prepared prepared;
  prepared.program = KW_TRY(kernel::instantiate(module, bindings, selection, image.kernels));
  prepared.image = image.id;
  prepared.open_bits = image.open_bits;
  return prepared;
}

Result<ports::RunOutcome> Workbench::run(const Prepared& prepared,
                                         const std::vector<tensor::HostTensor>& inputs,
                                         const ports::RunOptions& options) {
  return device_.run(prepared.image, prepared.program, inputs, options);
}

Comparison compare_outputs(const kernel::Program& program, const ports::RunOutcome& outcome,
                           const std::vector<tensor::HostTensor>& want, const Entry& entry) {
  Comparison total;
  for (size_t i = 0; i < program.buffers.size() && i < outcome.buffers.size(); ++i) {
    const kernel::Buffer& buffer = program.buffers[i];
    if (!is_result(buffer)) continue;
    const auto own = entry.tolerances.find(buffer.name);
    total += compare(buffer.name, outcome.buffers[i], want[i],
                     own != entry.tolerances.end() ? own->second : entry.tolerance);
  }
  return total;
}

std::vector<record::Finding> unexpected(const Entry& entry,
                                        const std::vector<record::Finding>& findings) {
  std::vector<record::Finding> rest;
  for (const record::Finding& finding : findings) {
    const bool known = entry.warns && finding.kind == *entry.warns &&
                       finding.certainty == record::Certainty::Warning;
    if (!known) rest.push_back(finding);
  }
  return rest;
}

std::string findings_text(const std::vector<record::Finding>& findings) {
  std::string text;
  for (const record::Finding& f : findings)
    text += fmt::format("{}{} at {}:{} (PTX {}): {} [x{}]\n", record::finding_name(f.kind),
                        f.certainty == record::Certainty::Warning ? " (warning)" : "", f.at.file,
                        f.at.line, f.at.ptx_line, f.message, f.count);
  return text;
}

}  // namespace kw::corpus
