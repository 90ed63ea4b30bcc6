#include "mcp/scratch.h"

#include <fmt/core.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "os/files.h"

namespace kw::mcp {

Result<std::shared_ptr<Scratch>> Scratch::make() {
  const std::string temporary = os::env("TMPDIR");
  std::string folder = (temporary.empty() ? "/tmp" : temporary) + "/kernelwright-mcp-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr)
    return environment_error(fmt::format("making a folder {}: {}", folder, std::strerror(errno)));
  return std::shared_ptr<Scratch>(new Scratch(folder));
}

Scratch::~Scratch() {
  std::error_code ignored;  // a folder that stays harms nobody
  std::filesystem::remove_all(folder_, ignored);
}

Result<std::string> Scratch::write(const std::string& name, std::string_view text) {
  const std::string path = folder_ + "/" + name;
  KW_TRY(os::write_file(path, text, os::Sync::No));
  return path;
}

}  // namespace kw::mcp
