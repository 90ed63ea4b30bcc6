#include "mcp/scratch.h"

#include <fmt/core.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "base/text.h"
#include "os/files.h"

namespace kw::mcp {
namespace {

std::string folder_start() {
  const std::string temporary = os::env("TMPDIR");
  return (temporary.empty() ? "/tmp" : temporary) + "/kernelwright-mcp-";
}

bool is_of_yesterday(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 &&
         ::time(nullptr) - status.st_mtim.tv_sec > time_t{24} * 3600;
}

}  // namespace

Result<std::shared_ptr<Scratch>> Scratch::make() {
  std::string folder = fmt::format("{}{}-XXXXXX", folder_start(), ::getpid());
  if (::mkdtemp(folder.data()) == nullptr)
    return environment_error(fmt::format("making a folder {}: {}", folder, std::strerror(errno)));
  return std::shared_ptr<Scratch>(new Scratch(folder));
}

Scratch::~Scratch() {
  std::error_code ignored;  // a folder that stays harms nobody
  std::filesystem::remove_all(folder_, ignored);
}

void Scratch::sweep() {
  const std::string start = folder_start();
  for (const std::string& path : os::glob(start + "*")) {
    const auto pid = parse_int(split(path.substr(start.size()), '-').front());
    const bool dead = pid && *pid > 0 && ::kill(static_cast<pid_t>(*pid), 0) != 0 && errno == ESRCH;
    std::error_code ignored;
    if (dead && is_of_yesterday(path)) std::filesystem::remove_all(path, ignored);
  }
}

Result<std::string> Scratch::write(const std::string& name, std::string_view text) {
  const std::string path = folder_ + "/" + name;
  KW_TRY(os::write_file(path, text, os::Sync::No));
  return path;
}

}  // namespace kw::mcp
