#include "compile/device_headers.h"

#include <string_view>
#include <vector>

#include "core/hash.h"
#include "kDeviceFiles.inc"
#include "kNvrtcFiles.inc"
#include "os/files.h"
#include "os/own_files.h"
#include "os/scratch.h"

namespace kw::compile {
namespace {

struct HeaderFile {
  std::string_view name, text;
};

std::vector<HeaderFile> files_of(HeaderSet set) {
  std::vector<HeaderFile> files;
  const auto add = [&](const auto& rows) {
    for (const auto& row : rows) {
      if (row.name != nullptr) files.push_back({row.name, row.text});
    }
  };
  if (set == HeaderSet::Clang) add(kDeviceFiles);
  if (set == HeaderSet::Nvrtc) add(kNvrtcFiles);
  return files;
}

// Files that miss or were changed are written again. Their bytes are compared, because after a
// power cut or an edit a file of the right size may hold other bytes. A folder that other users can
// change is not used.
Status unpack(HeaderSet set, const std::string& folder) {
  KW_TRY(os::check_own_folder(folder));
  for (const HeaderFile& file : files_of(set)) {
    const std::string path = folder + "/" + std::string(file.name);
    const Result<std::string> there = os::read_own(folder, std::string(file.name));
    if (there && *there == file.text) continue;
    if (!there && there.error().blame == Blame::Environment) return there.error();
    KW_TRY(os::make_directories(path.substr(0, path.rfind('/'))));
    KW_TRY(os::write_file(path, file.text));
  }
  return Done{};
}

}  // namespace

std::string own_header_hash(HeaderSet set) {
  std::string all;
  for (const HeaderFile& file : files_of(set)) {
    all.append(file.name).append("\n").append(file.text).append("\n");
  }
  return hash_hex(all);
}

Result<std::string> own_header_folder(HeaderSet set) {
  const std::string name = (set == HeaderSet::Clang ? "device-" : "nvrtc-") + own_header_hash(set);
  const std::string cached = os::cache_directory() + "/" + name;
  if (unpack(set, cached)) return cached;
  // Kept until the process ends: compilers made later share it.
  static Result<os::ScratchFolder> temporary = os::ScratchFolder::make("compile");
  if (!temporary) return temporary.error();
  const std::string folder = temporary->path() + "/" + name;
  if (auto unpacked = unpack(set, folder); !unpacked) return std::move(unpacked).error();
  return folder;
}

}  // namespace kw::compile
