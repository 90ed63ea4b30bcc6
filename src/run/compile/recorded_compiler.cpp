#include "compile/recorded_compiler.h"

#include "compile/compiler_messages.h"
#include "compile/resources.h"
#include "kernel/recorded.h"

namespace kw::compile {

Result<ports::CompileOutcome> RecordedCompiler::compile(const ports::CompileRequest& request) {
  if (!kernel::is_recorded(request.source)) return behind_->compile(request);
  ports::CompileOutcome outcome;
  ports::Compiled compiled;
  compiled.kind = ports::ImageKind::Ptx;  // for every request: each device accepts PTX
  compiled.image = kernel::recorded_ptx(request.source);
  compiled.target = request.target;
  compiled.compiler = "as recorded";
  const auto resources = scan_ptx(compiled.image);
  for (const std::string& entry : request.kernels) {
    const auto found = resources.find(entry);
    if (found == resources.end()) {
      outcome.failed =
          ports::CompileFailed{compiled.compiler,
                               {{{}, 0, 0, "the recorded PTX has no kernel '" + entry + "'"}},
                               "",
                               false,
                               false};
      return outcome;
    }
    compiled.kernels.push_back({entry, entry, demangle(entry), found->second});
  }
  outcome.compiled = std::move(compiled);
  return outcome;
}

}  // namespace kw::compile
