#include "clib/own_workers.h"

#include <dlfcn.h>
#include <string>

#include "clib/kernelwright.h"
#include "commands/io.h"
#include "core/json.h"
#include "os/files.h"
#include "os/own_program.h"
#include "os/process.h"

namespace kw::clib {
namespace {

constexpr double kAnswerSeconds = 30;

std::string folder_of_library() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&kw_abi_version), &info) == 0) return "";
  const std::string path = info.dli_fname == nullptr ? "" : info.dli_fname;
  // A relative path depends on the working directory, which may have changed.
  return path.starts_with("/") ? path.substr(0, path.rfind('/')) : "";
}

Status check_program(const std::string& program) {
  if (!os::exists(program)) {
    return environment_error("the workers' program {} is missing; it belongs beside the library",
                             program);
  }
  os::ProcessLimits limits;
  limits.timeout_seconds = kAnswerSeconds;
  const auto said = KW_TRY(os::run_process({program, "version", "--json"}, {}, limits));
  const Result<Json> answer = Json::parse(said.out);
  const std::string version = answer ? (*answer)["kernelwright"].as_string() : "";
  if (version == commands::version()) return Done{};
  return environment_error("the library is kernelwright {}, but {} is {}; install them together",
                           commands::version(), program,
                           version.empty() ? "none" : "version " + version);
}

Status look_for_workers() {
  const std::string folder = folder_of_library();
  std::string program = folder + "/kernelwright";
  if (!os::env("KERNELWRIGHT_WORKER").empty()) {
    program = KW_TRY(os::worker_program());
  } else if (folder.empty()) {
    return input_error(
        "the library was loaded by a relative path, so the program beside it is not used; load the "
        "library by its absolute path, or set KERNELWRIGHT_WORKER to the absolute path of the "
        "program");
  }
  KW_TRY(check_program(program));
  os::set_own_program(program);
  return Done{};
}

}  // namespace

Status find_workers() {
  static const Status found = look_for_workers();
  return found;
}

}  // namespace kw::clib
