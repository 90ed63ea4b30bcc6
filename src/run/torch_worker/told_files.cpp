// The memory is one file of hashes, a line each, in the user's data folder. It is replaced as a
// whole, so two processes at once may lose a line; the file of that line is then announced once
// more. A process that works for an MCP client neither reads nor writes it: its client was told,
// not the user. Beyond kMostBytes it begins empty.
#include "torch_worker/told_files.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "core/text.h"
#include "os/files.h"
#include "os/own_files.h"
#include "os/permissions.h"

namespace kw::torch_worker {
namespace {

constexpr uint64_t kMostBytes = 1 << 20;

std::string memory_path() { return os::data_directory() + "/executed-files"; }

std::string remembered() {
  const Result<std::string> text = os::read_own_file(memory_path(), kMostBytes);
  return text ? *text : "";
}

}  // namespace

bool was_told(const std::string& hash) {
  if (os::is_served()) return false;
  const std::string text = remembered();
  const std::vector<std::string_view> lines = split_lines(text);
  return std::find(lines.begin(), lines.end(), hash) != lines.end();
}

void remember_told(const std::string& hash) {
  if (os::is_served() || !os::make_directories(os::data_directory())) return;
  const std::string text = remembered() + hash + "\n";
  static_cast<void>(os::write_file(memory_path(), text, os::Sync::No).has_value());
}

}  // namespace kw::torch_worker
