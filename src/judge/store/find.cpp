#include "store/find.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "core/text.h"
#include "os/files.h"
#include "os/inside.h"
#include "store/run_impl.h"

namespace kw::store {

namespace {

constexpr size_t kMostNamed = 6;
constexpr size_t kFewestDigits = 4;  // of the random digits at the end of an id

std::string base_name(const std::string& folder) {
  return std::filesystem::path(folder).filename();
}

// Sorts by the manifest's time, then by when the manifests were written.
std::tuple<std::string, int64_t, int64_t, std::string> age_key(const std::string& folder) {
  const Result<Manifest> manifest = read_manifest(Layout{folder});
  struct stat st {};
  ::stat(Layout{folder}.manifest().c_str(), &st);
  return {manifest ? manifest->created : "", st.st_mtim.tv_sec, st.st_mtim.tv_nsec, folder};
}

Error ambiguous(const std::string& name, const std::vector<std::string>& ids) {
  std::vector<std::string> shown(ids.begin(), ids.begin() + std::min(ids.size(), kMostNamed));
  const std::string more =
      ids.size() > shown.size() ? fmt::format(" and {} more", ids.size() - shown.size()) : "";
  return input_error("'{}' matches {} runs: {}{}", name, ids.size(), join(shown, ", "), more);
}

}  // namespace

std::vector<std::string> run_folders(const std::string& root) {
  std::vector<std::tuple<std::string, int64_t, int64_t, std::string>> keys;
  for (const std::string& name : os::list_directory(root)) {
    const std::string folder = root + "/" + name;
    if (name[0] != '.' && os::inside(root, name) && os::exists(Layout{folder}.manifest()))
      keys.push_back(age_key(folder));
  }
  std::sort(keys.rbegin(), keys.rend());
  std::vector<std::string> folders;
  for (const auto& key : keys) folders.push_back(std::get<3>(key));
  return folders;
}

namespace {

constexpr size_t kTimeDigits = 15;  // "20261115-091244"

bool begins_with_time(const std::string& name) {
  if (name.size() <= kTimeDigits || name[8] != '-' || name[kTimeDigits] != '-') return false;
  return std::ranges::all_of(name.substr(0, kTimeDigits),
                             [](char c) { return c == '-' || (c >= '0' && c <= '9'); });
}

bool is_run_of(const std::string& root, const std::string& name) {
  return os::inside(root, name) && os::exists(Layout{root + "/" + name}.manifest());
}

/// Whether the user means this run by the id or a part of it.
bool is_meant(const std::string& name, const std::string& id) {
  const std::string digits = id.substr(id.rfind('-') + 1);
  const bool by_digits = name.size() >= kFewestDigits && digits.starts_with(name);
  return id.starts_with(name) || by_digits;
}

/// find_run() by names alone, without reading every manifest: a root has thousands. "" when the
/// names do not decide.
std::string found_by_name(const std::string& root, const std::string& name) {
  std::vector<std::string> meant, timed, others;
  for (const std::string& one : os::list_directory(root)) {
    if (one[0] == '.') continue;
    if (one == name && is_run_of(root, one)) return root + "/" + one;
    if (is_meant(name, one)) meant.push_back(one);
    (begins_with_time(one) ? timed : others).push_back(one);
  }
  if (name != "latest") {
    std::erase_if(meant, [&](const std::string& one) { return !is_run_of(root, one); });
    return meant.size() == 1 ? root + "/" + meant.front() : "";
  }
  // Ids begin with the time of creation: only those of the last second can be the latest, and
  // folders with names of their own.
  const std::string last = timed.empty() ? "" : timed.back().substr(0, kTimeDigits);
  std::erase_if(timed, [&](const std::string& one) {
    return !one.starts_with(last) || !is_run_of(root, one);
  });
  if (timed.empty()) return "";
  std::erase_if(others, [&](const std::string& one) { return !is_run_of(root, one); });
  timed.insert(timed.end(), others.begin(), others.end());
  return root + "/" + *std::ranges::max_element(timed, {}, [&](const std::string& one) {
           return age_key(root + "/" + one);
         });
}

}  // namespace

Result<std::string> find_run(const std::string& root, const std::string& name) {
  if (name.empty()) return input_error("missing run; give its folder, its id, or 'latest'");
  if (os::exists(Layout{name}.manifest()) || name.find('/') != std::string::npos) {
    KW_TRY(read_manifest(Layout{name}));
    return name;
  }
  if (std::string found = found_by_name(root, name); !found.empty()) return found;
  const std::vector<std::string> folders = run_folders(root);
  if (name == "latest") {
    if (!folders.empty()) return folders.front();
    return input_error("there are no runs in {}", root);
  }
  std::vector<std::string> ids, meant;
  for (const std::string& folder : folders) {
    ids.push_back(base_name(folder));
    if (ids.back() == name) return folder;
    if (is_meant(name, ids.back())) meant.push_back(folder);
  }
  if (meant.size() == 1) return meant.front();
  if (meant.empty()) {
    return input_error("no run in {} has an id that begins with '{}'{}", root, name,
                       did_you_mean(name, ids));
  }
  for (std::string& folder : meant) folder = base_name(folder);
  return ambiguous(name, meant);
}

}  // namespace kw::store
