#include "compile/checked_compiler.h"

#include <fmt/core.h>

#include "compile/compiler_messages.h"
#include "ptx/instruction_rules.h"
#include "ptx/machine_reads.h"

namespace kw::compile {
namespace {

constexpr size_t kMostListed = 8;

struct Refused {
  int ptx_line;
  std::string message;
};

ports::CompileFailed refusal(const ports::CompileRequest& request, const ports::Compiled& compiled,
                             const std::vector<Refused>& reads) {
  ports::CompileFailed failed;
  failed.compiler = compiled.compiler;
  for (size_t i = 0; i < reads.size() && i < kMostListed; ++i) {
    failed.messages.push_back({{},
                               module_line(compiled.image, reads[i].ptx_line, request.file_name),
                               0,
                               "the device code " + reads[i].message});
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
  const std::string_view text = judged->compiled->image;
  std::vector<Refused> all;
  for (const ptx::ForbiddenRead& read : ptx::forbidden_reads(text, entries))
    all.push_back({read.ptx_line, read.message + ": " + ptx::kForbiddenReadHint});
  for (const ptx::RefusedInstruction& one : ptx::refused_instructions(text, entries))
    all.push_back({one.ptx_line, one.message});
  if (all.empty()) return outcome;
  ports::CompileOutcome refused;
  refused.failed = refusal(request, *judged->compiled, all);
  return refused;
}

}  // namespace kw::compile
