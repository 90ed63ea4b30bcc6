#include "commands/candidate_file.h"

#include <filesystem>

#include "commands/values.h"
#include "core/text.h"
#include "os/files.h"

namespace kw::commands {

bool needs_reading(const std::string& path, const std::string& text) {
  return verification::is_foreign(path, text);
}

Result<std::vector<std::string>> include_folders(const Args& args) {
  std::vector<std::string> folders = args.all("--include");
  for (const std::string& folder : folders) {
    if (!os::is_directory(folder)) return input_error("--include: there is no folder {}", folder);
  }
  if (const std::string cutlass = os::env("KW_CUTLASS"); !cutlass.empty()) {
    if (!cutlass.starts_with("/"))
      return input_error("$KW_CUTLASS is '{}'; it must be an absolute path", cutlass);
    for (const char* part : {"", "/include", "/tools/util/include"}) {
      if (os::is_directory(cutlass + part)) folders.push_back(cutlass + part);
    }
  }
  for (std::string& folder : folders) folder = std::filesystem::absolute(folder).string();
  return folders;
}

std::vector<std::string> task_inputs(const std::vector<std::string>& inputs) {
  std::vector<std::string> out;
  for (const std::string& text : inputs) {
    const size_t equals = text.find('=');
    const bool tensor = text.find(':') < equals;
    if (tensor || equals == std::string::npos || parse_double(trim(text.substr(equals + 1))))
      out.push_back(text);
  }
  return out;
}

Result<verification::CandidateText> read_candidate_file(const std::string& path, const Args& args,
                                                        const task::Task& task,
                                                        const task::Dims& dims,
                                                        const ports::DeviceInfo& device, Io& io) {
  verification::ForeignRequest request;
  request.path = path;
  request.import.reference = args.one("--reference");
  request.import.function = args.one("--function");
  request.import.launcher = args.one("--launcher");
  request.import.mode = args.one("--mode");
  request.import.inputs = args.all("--input");
  request.import.dims = dims;
  request.include_folders = KW_TRY(include_folders(args));
  request.task = &task;
  request.dims = dims;
  request.device = device;
  request.target = args.one("--target");
  request.timeout_seconds = args.number("--timeout");
  io.progress("reading " + path);
  verification::CandidateText text = KW_TRY(verification::read_candidate(request));
  for (const std::string& note : text.notes) io.note(note);
  return text;
}

}  // namespace kw::commands
