#include "compile/device_headers.h"

#include <string_view>

#include "base/hash.h"
#include "compile/scratch.h"
#include "kDeviceFiles.inc"
#include "os/files.h"

namespace kw::compile {
namespace {

// Files are written whole or not at all, so one of the right size is right; what is missing is
// added.
Status unpack(const std::string& folder) {
  for (const auto& file : kDeviceFiles) {
    if (file.name == nullptr) continue;
    const std::string_view text = file.text;
    const std::string path = folder + "/" + file.name;
    if (os::exists(path) && os::file_size(path) == text.size()) continue;
    if (auto made = os::make_directories(path.substr(0, path.rfind('/'))); !made) return made;
    if (auto written = os::write_file(path, text, os::Sync::No); !written) return written;
  }
  return Done{};
}

}  // namespace

std::string device_header_hash() {
  std::string all;
  for (const auto& file : kDeviceFiles) {
    if (file.name != nullptr) all += std::string(file.name) + "\n" + file.text + "\n";
  }
  return hash_hex(all);
}

Result<std::string> device_header_folder() {
  const std::string cached = os::cache_directory() + "/device-" + device_header_hash();
  if (unpack(cached)) return cached;
  // Kept until the process ends: compilers made later share it.
  static Result<ScratchFolder> temporary = ScratchFolder::make();
  if (!temporary) return temporary.error();
  if (auto unpacked = unpack(temporary->path()); !unpacked) return std::move(unpacked).error();
  return temporary->path();
}

}  // namespace kw::compile
