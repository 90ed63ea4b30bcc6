#include "os/permissions.h"

#include <fmt/core.h>

#include <algorithm>
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
  const char* name;  // in messages
  const char* option;
  bool Permissions::*allowed;
};
constexpr Row kRows[] = {
    {Runs::Python, "python", "Python code", "--allow-python", &Permissions::python},
    {Runs::HostCode, "host-code", "the host code of CUDA files", "--allow-host-code",
     &Permissions::host_code},
    {Runs::Commands, "commands", "programs named by a model id", "--allow-commands",
     &Permissions::commands},
};

bool is_forbidden(const Row& row) {
  const std::vector<std::string> words = split(env(kVariable), ',');
  return std::ranges::any_of(words,
                             [&](const std::string& word) { return trim(word) == row.word; });
}

}  // namespace

std::string why_forbidden(Runs what) {
  const Row& row = *std::ranges::find(kRows, what, &Row::what);
  if (!is_forbidden(row)) return "";
  return fmt::format(
      "this server does not run {} for its clients; 'kernelwright mcp {}' starts one that does",
      row.name, row.option);
}

std::string forbidding(const Permissions& allowed) {
  std::vector<std::string> words;
  for (const Row& row : kRows) {
    if (!(allowed.*row.allowed) || is_forbidden(row)) words.emplace_back(row.word);
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
