#include "compile/checked_compiler.h"

#include <fmt/core.h>

#include "compile/compiler_messages.h"
#include "ptx/machine_reads.h"

namespace kw::compile {
namespace {

constexpr size_t kMostListed = 8;

ports::CompileFailed refusal(const ports::CompileRequest& request, const ports::Compiled& compiled,
                             const std::vector<ptx::ForbiddenRead>& reads) {
  ports::CompileFailed failed;
  failed.compiler = compiled.compiler;
  for (size_t i = 0; i < reads.size() && i < kMostListed; ++i) {
    failed.messages.push_back(
        {{},
         module_line(compiled.image, reads[i].ptx_line, request.file_name),
         0,
         fmt::format("the device code {}: {}", reads[i].message, ptx::kForbiddenReadHint)});
    failed.log += failed.messages.back().text + "\n";
  }
  return failed;
}

}  // namespace

Result<ports::CompileOutcome> CheckedCompiler::compile(const ports::CompileRequest& request) {
  ports::CompileOutcome outcome = KW_TRY(inner_->compile(request));
  if (!outcome.compiled) return outcome;
  const ports::CompileOutcome* judged = &outcome;
  ports::CompileOutcome as_text;
  if (outcome.compiled->kind != ports::ImageKind::Ptx) {
    ports::CompileRequest again = request;
    again.image = ports::ImageKind::Ptx;
    as_text = KW_TRY(inner_->compile(again));
    if (!as_text.compiled) return as_text;
    judged = &as_text;
  }
  std::vector<std::string> entries;  // only these can be launched
  for (const ports::CompiledKernel& kernel : judged->compiled->kernels)
    entries.push_back(kernel.entry);
  const auto reads = ptx::forbidden_reads(std::string_view(judged->compiled->image), entries);
  if (reads.empty()) return outcome;
  ports::CompileOutcome refused;
  refused.failed = refusal(request, *judged->compiled, reads);
  return refused;
}

}  // namespace kw::compile
