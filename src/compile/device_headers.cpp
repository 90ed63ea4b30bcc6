#include "compile/device_headers.h"

#include "base/hash.h"
#include "base/text.h"
#include "compile/scratch.h"
#include "kDeviceFiles.inc"
#include "os/files.h"

namespace kw::compile {
namespace {

Status unpack(const std::string& folder) {
  const std::string complete = folder + "/.complete";
  // The mark is written last: a folder that was cut short is filled again.
  if (os::exists(complete)) return Done{};
  for (const auto& file : kDeviceFiles) {
    if (file.name == nullptr) continue;
    const std::string path = folder + "/" + file.name;
    if (auto made = os::make_directories(path.substr(0, path.rfind('/'))); !made) return made;
    if (auto written = os::write_file(path, file.text); !written) return written;
  }
  return os::write_file(complete, "");
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
