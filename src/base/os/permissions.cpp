#include "os/permissions.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "core/text.h"
#include "os/file_error.h"
#include "os/files.h"
#include "os/inside.h"
#include "os/own_program.h"

namespace kw::os {
namespace {

constexpr const char* kVariable = "KERNELWRIGHT_FORBID";
constexpr const char* kRoots = "KERNELWRIGHT_ROOTS";

using Folders = std::vector<std::string>;

std::string real_place(const std::string& path) {
  std::error_code failed;
  const std::string real = std::filesystem::weakly_canonical(path, failed).string();
  return failed ? path : real;
}

bool lies_in_any(const std::string& path, const Folders& folders) {
  return std::ranges::any_of(folders, [&](const auto& folder) { return lies_in(path, folder); });
}

const Folders& roots() {
  static const Folders kFolders = [] {
    Folders folders = split(env(kRoots), '\n');
    std::erase(folders, "");
    return folders;
  }();
  return kFolders;
}

/// Whether a path lies in a folder that keeps the texts clients send. Such folders lie beside the
/// command's own temporary folder.
bool is_scratch(const std::string& path) {
  const std::string own = env_path("TMPDIR");
  if (own.empty()) return path.starts_with(real_place("/tmp") + "/kernelwright-");
  const std::string real = real_place(own);
  return lies_in(path, real) ||
         path.starts_with(std::filesystem::path(real).parent_path().string() + "/kernelwright-");
}

/// The folders the program itself may read and write.
const Folders& own_places() {
  static const Folders kFolders = [] {
    Folders folders = {"/usr", "/lib", "/lib64", "/opt", "/proc", "/sys", "/dev"};
    for (const std::string& path :
         {cache_directory(), data_directory(), config_directory(), build_folder(), self_path()}) {
      if (!path.empty()) folders.push_back(real_place(path));
    }
    for (const char* name : {"KERNELWRIGHT_RUNS", "KERNELWRIGHT_PROVIDERS", "KERNELWRIGHT_NVRTC",
                             "KERNELWRIGHT_LIBCUDA", "KERNELWRIGHT_WORKER", "CUDA_HOME",
                             "CUDA_PATH", "CUTLASS_PATH", "CUTLASS_INCLUDE_DIR", "VIRTUAL_ENV"}) {
      if (const std::string path = env_path(name); !path.empty())
        folders.push_back(real_place(path));
    }
    return folders;
  }();
  return kFolders;
}

Error outside(const std::string& path) {
  return input_error("{}: outside of the allowed folders ({})", without_controls(path),
                     join(roots(), ", "));
}

struct Row {
  Runs what;
  const char* word;  // in the environment variable
  const char* why;
  bool Permissions::*allowed;  // the server's; nullptr: not decided by a server
};
constexpr Row kRows[] = {
    {Runs::Python, "python",
     "this server does not run Python code for its clients; 'kernelwright mcp --allow-python' "
     "starts one that does",
     &Permissions::python},
    {Runs::HostCode, "host-code",
     "this server does not run the host code of CUDA files for its clients; 'kernelwright mcp "
     "--allow-host-code' starts one that does",
     &Permissions::host_code},
    {Runs::Commands, "commands",
     "this server does not run programs named by a model id for its clients; 'kernelwright mcp "
     "--allow-commands' starts one that does",
     &Permissions::commands},
    {Runs::Python, "no-python", "--no-python was given", nullptr},
    {Runs::Python, "folder-python", "the files of a folder are executed with --allow-python only",
     nullptr},
};

bool is_forbidden(const Row& row) {
  const std::vector<std::string> words = split(env(kVariable), ',');
  return std::ranges::any_of(words,
                             [&](const std::string& word) { return trim(word) == row.word; });
}

}  // namespace

std::string why_forbidden(Runs what) {
  for (const Row& row : kRows) {
    if (row.what == what && is_forbidden(row)) return row.why;
  }
  return "";
}

void forbid_python(NoPython why) {
  const std::string word = why == NoPython::Option ? "no-python" : "folder-python";
  const std::string now = env(kVariable);
  ::setenv(kVariable, (now.empty() ? word : now + "," + word).c_str(), 1);
}

std::string forbidding(const Permissions& allowed) {
  std::vector<std::string> words;
  for (const Row& row : kRows) {
    const bool granted = row.allowed == nullptr || allowed.*row.allowed;
    if (!granted || is_forbidden(row)) words.emplace_back(row.word);
  }
  return fmt::format("{}={}", kVariable, join(words, ","));
}

std::string keeping_in(const std::vector<std::string>& folders) {
  return fmt::format("{}={}", kRoots, join(folders, "\n"));
}

bool is_served() { return !roots().empty(); }

Status check_named(const std::string& path) {
  if (!is_served()) return Done{};
  const std::string real = real_place(path);
  return lies_in_any(real, roots()) || is_scratch(real) ? Status(Done{}) : outside(path);
}

Status check_opened(int fd, const std::string& path) {
  if (!is_served()) return Done{};
  const std::string real = opened_path(fd);
  const bool known = real.empty() || lies_in_any(real, roots()) ||
                     lies_in_any(real, own_places()) || is_scratch(real);
  return known ? Status(Done{}) : outside(path);
}

}  // namespace kw::os
