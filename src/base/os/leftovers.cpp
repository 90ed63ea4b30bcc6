#include "os/leftovers.h"

#include <filesystem>
#include <system_error>
#include <vector>

namespace kw::os {

void remove_leftovers(const std::string& folder, const std::string& except) {
  namespace fs = std::filesystem;
  std::vector<fs::path> found;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (!except.empty() && name == except) entry.disable_recursion_pending();
    if (name.find(".tmp-") != std::string::npos && entry->is_regular_file(error))
      found.push_back(entry->path());
  }
  for (const fs::path& path : found) fs::remove(path, error);
}

}  // namespace kw::os
