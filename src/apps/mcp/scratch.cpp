#include "mcp/scratch.h"

#include "os/files.h"

namespace kw::mcp {
namespace {

constexpr const char* kKind = "mcp";

}  // namespace

Result<std::shared_ptr<Scratch>> Scratch::make() {
  return std::shared_ptr<Scratch>(new Scratch(KW_TRY(os::ScratchFolder::make(kKind))));
}

Result<std::string> Scratch::write(const std::string& name, std::string_view text) {
  const std::string path = folder() + "/" + name;
  KW_TRY(os::write_file(path, text, os::Sync::No));
  return path;
}

}  // namespace kw::mcp
