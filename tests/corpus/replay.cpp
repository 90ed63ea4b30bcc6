// A recorded file is PTX text headed by comment lines:
//   // made by NVRTC 13.0.88 for sm_90 with THREADS=128
//   // kernel EXPRESSION|ENTRY|SIGNATURE|MAX_THREADS
#include "replay.h"

#include <fmt/core.h>

#include "core/text.h"
#include "os/files.h"

namespace kw::corpus {
namespace {

constexpr std::string_view kKernel = "// kernel ";

std::string file_of(const std::string& folder, const ports::CompileRequest& request) {
  return folder + "/" + request.file_name.substr(0, request.file_name.rfind('.')) + ".ptx";
}

std::string made_for(const ports::CompileRequest& request) {
  std::string text = " for " + request.target + " with";
  for (const auto& [name, value] : request.defines) text += fmt::format(" {}={}", name, value);
  return text;
}

}  // namespace

Result<ports::CompileOutcome> ReplayCompiler::compile(const ports::CompileRequest& request) {
  const std::string path = file_of(folder_, request);
  ports::Compiled compiled;
  compiled.image = KW_TRY(os::read_file(path));
  compiled.target = request.target;
  compiled.compiler = name();
  const auto lines = split_lines(compiled.image);
  if (lines.empty() || !lines[0].ends_with(made_for(request)))
    return input_error(path + " was not made" + made_for(request));
  for (std::string_view line : lines) {
    if (!line.starts_with(kKernel)) continue;
    const auto fields = split(line.substr(kKernel.size()), '|');
    if (fields.size() != 4) return input_error(path + ": malformed kernel line");
    ports::CompiledKernel kernel{fields[0], fields[1], fields[2], {}};
    kernel.resources.max_threads = static_cast<int>(parse_int(fields[3]).value_or(-1));
    compiled.kernels.push_back(std::move(kernel));
  }
  return ports::CompileOutcome{std::move(compiled), std::nullopt};
}

Result<ports::CompileOutcome> RecordingCompiler::compile(const ports::CompileRequest& request) {
  ports::CompileOutcome outcome = KW_TRY(inner_.compile(request));
  if (!outcome.compiled) return outcome;
  std::string text = "// made by " + outcome.compiled->compiler + made_for(request) + "\n";
  for (const ports::CompiledKernel& kernel : outcome.compiled->kernels)
    text += fmt::format("{}{}|{}|{}|{}\n", kKernel, kernel.expression, kernel.entry,
                        kernel.signature, kernel.resources.max_threads);
  KW_TRY(os::write_file(file_of(folder_, request), text + outcome.compiled->image));
  return outcome;
}

}  // namespace kw::corpus
