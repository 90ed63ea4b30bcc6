#include "compile/disassemble.h"

#include <fmt/core.h>

#include <filesystem>
#include <vector>

#include "compile/cache.h"
#include "core/one_line.h"
#include "core/text.h"
#include "os/files.h"
#include "os/interrupt.h"
#include "os/process.h"
#include "os/scratch.h"
#include "sandbox/sandbox.h"

namespace kw::compile {
namespace {

constexpr uint64_t kMostText = uint64_t{256} << 20;
constexpr uint64_t kMostMemory = uint64_t{8} << 30;

/// The first meaningful line; tools print warnings about themselves before it.
std::string first_words(const std::string& text) {
  for (const std::string_view line : split_lines(text)) {
    if (!trim(line).empty()) return one_line(line);
  }
  return "";
}

/// Both programs print one of these before every function's code.
bool holds_code(const std::string& text) {
  return text.find(".text.") != std::string::npos || text.find("Function : ") != std::string::npos;
}

/// The text; or `why` there is none. An Error means that no other tool can help.
Result<std::string> run_disassembler(const std::vector<std::string>& argv,
                                     const std::string& folder, double timeout_seconds,
                                     std::string* why) {
  os::ProcessLimits limits;
  limits.timeout_seconds = timeout_seconds;
  limits.output_bytes = kMostText;
  limits.end_when_cut = true;
  sandbox::ForeignProcess job{sandbox::Kind::Disassembler,
                              sandbox::worker_files(argv[0]),
                              {"TMPDIR=" + folder},
                              kMostMemory};
  std::error_code failed;  // cuobjdump starts nvdisasm, which lies beside it
  const std::filesystem::path real = std::filesystem::canonical(argv[0], failed);
  if (!failed) job.allowed.running.push_back(real.parent_path().string());
  job.allowed.writing.push_back(folder);
  const Result<os::ProcessResult> ran = sandbox::run(job, argv, {}, limits);
  KW_TRY(os::check_interrupted());
  const std::string name = argv[0].substr(argv[0].rfind('/') + 1);
  if (!ran) {
    *why = ran.error().message;
  } else if (ran->timed_out) {
    *why = fmt::format("{} did not finish within {:g} s", name, timeout_seconds);
  } else if (ran->signal != 0) {
    *why = fmt::format("{} was killed by signal {}", name, ran->signal);
  } else if (ran->exit_code != 0) {
    *why = fmt::format("{} ended with code {}: {}", name, ran->exit_code,
                       first_words(ran->err + "\n" + ran->out));
  } else if (!holds_code(ran->out)) {
    *why = name + " printed no machine code";
  } else {
    return ran->out;
  }
  return std::string();
}

}  // namespace

Disassembler find_disassembler(const SearchOptions& options) {
  return {find_cuda_program("nvdisasm", options), find_cuda_program("cuobjdump", options)};
}

Result<std::string> disassemble(std::string_view cubin, const Disassembler& tools,
                                double timeout_seconds) {
  if (!tools.found()) {
    return environment_error(
        "machine code needs nvdisasm or cuobjdump; neither was found: pip install "
        "nvidia-cuda-nvdisasm (or triton, which brings one), or install a CUDA toolkit and set "
        "$CUDA_HOME");
  }
  const os::ScratchFolder scratch = KW_TRY(os::ScratchFolder::make("compile"));
  const std::string file = scratch.path() + "/kernel.cubin";
  KW_TRY(os::write_file(file, cubin, os::Sync::No));
  std::vector<std::string> reasons;
  const std::pair<const std::string&, const char*> programs[] = {{tools.nvdisasm, "-c"},
                                                                 {tools.cuobjdump, "-sass"}};
  for (const auto& [program, option] : programs) {
    if (program.empty()) continue;
    std::string why;
    std::string text =
        KW_TRY(run_disassembler({program, option, file}, scratch.path(), timeout_seconds, &why));
    if (why.empty()) return text;
    reasons.push_back(replace_all(std::move(why), file, "the cubin"));
  }
  return environment_error("the machine code could not be shown: " + join(reasons, "; "));
}

namespace {

/// A Compiler whose source is a cubin, so that the compile cache can keep the printed text.
class Printer : public ports::Compiler {
 public:
  explicit Printer(const Disassembler& tools) : tools_(tools) {}
  std::string name() const override { return "machine code as text"; }
  Result<ports::CompileOutcome> compile(const ports::CompileRequest& request) override {
    ports::CompileOutcome outcome;
    outcome.compiled.emplace();
    outcome.compiled->image = KW_TRY(disassemble(request.source, tools_, request.timeout_seconds));
    return outcome;
  }

 private:
  const Disassembler& tools_;
};

}  // namespace

Result<std::string> disassemble_once(std::string_view cubin, const Disassembler& tools,
                                     double timeout_seconds) {
  CacheOptions options;
  options.folder = os::cache_directory() + "/compile";
  options.salt = fingerprint({tools.nvdisasm, tools.cuobjdump});
  CachingCompiler printer(std::make_unique<Printer>(tools), std::move(options));
  ports::CompileRequest request;
  request.source = cubin;
  request.timeout_seconds = timeout_seconds;
  ports::CompileOutcome outcome = KW_TRY(printer.compile(request));
  return std::move(outcome.compiled->image);
}

}  // namespace kw::compile
