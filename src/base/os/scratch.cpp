#include "os/scratch.h"

#include <fmt/core.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <utility>

#include "core/text.h"
#include "os/files.h"

namespace kw::os {
namespace {

std::string temporary_root() {
  const std::string named = env("TMPDIR");
  return named.empty() ? "/tmp" : named;
}

std::string start_of(const std::string& kind) {
  return fmt::format("{}/kernelwright-{}-", temporary_root(), kind);
}

void remove_folder(const std::string& path) {
  std::error_code ignored;
  if (!path.empty()) std::filesystem::remove_all(path, ignored);
}

// A process of another container may share the folder but not our process numbers. So its age
// decides.
bool older_than_a_day(const std::string& path) {
  struct stat st {};
  return ::stat(path.c_str(), &st) == 0 && ::time(nullptr) - st.st_mtim.tv_sec > 24 * 3600;
}

}  // namespace

Result<ScratchFolder> ScratchFolder::make(const std::string& kind) {
  std::string pattern = fmt::format("{}{}-XXXXXX", start_of(kind), ::getpid());
  if (::mkdtemp(pattern.data()) == nullptr) {
    return environment_error(
        "no temporary folder can be made in {}: {}; set TMPDIR to a writable one", temporary_root(),
        std::strerror(errno));
  }
  ScratchFolder folder;
  folder.path_ = pattern;
  return folder;
}

ScratchFolder::ScratchFolder(ScratchFolder&& other) noexcept
    : path_(std::exchange(other.path_, "")) {}

ScratchFolder& ScratchFolder::operator=(ScratchFolder&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

ScratchFolder::~ScratchFolder() { remove_folder(path_); }

void ScratchFolder::sweep(const std::string& kind) {
  const std::string start = start_of(kind);
  for (const std::string& path : glob(start + "*")) {
    const auto pid = parse_int(split(path.substr(start.size()), '-').front());
    const bool dead = pid && *pid > 0 && ::kill(static_cast<pid_t>(*pid), 0) != 0 && errno == ESRCH;
    if (dead && older_than_a_day(path)) remove_folder(path);
  }
}

}  // namespace kw::os
