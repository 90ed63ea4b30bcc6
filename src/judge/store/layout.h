// The file names in a run folder (docs/run-folder.md). Internal to store.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace kw::store {

inline constexpr int kFolderVersion = 1;
inline constexpr const char* kFolderFormat = "kernelwright run";
inline constexpr const char* kIndexName = "index.sqlite";
inline constexpr std::array kInputNames = {"prompt.txt", "reference.py", "spec.json", "config.json",
                                           "env.json"};
inline constexpr std::array kFinalNames = {"kernel.cu", "kernel.ptx", "kernel.cubin", "README.md"};

struct Layout {
  std::string folder;

  std::string manifest() const { return folder + "/run.json"; }
  std::string lock() const { return folder + "/lock"; }
  std::string events() const { return folder + "/events.jsonl"; }
  std::string signature() const { return folder + "/signature.json"; }
  std::string checkpoint() const { return folder + "/checkpoint.json"; }
  std::string report() const { return folder + "/report.json"; }
  std::string reserve() const { return folder + "/reserve"; }
  std::string inputs() const { return folder + "/inputs"; }
  std::string input(std::string_view name) const { return inputs() + "/" + std::string(name); }
  std::string finals() const { return folder + "/final"; }
  std::string final_file(std::string_view name) const { return finals() + "/" + std::string(name); }
  std::string candidates() const { return folder + "/candidates"; }
  std::string candidate(std::string_view id) const { return candidates() + "/" + std::string(id); }
  std::string of_candidate(std::string_view id, std::string_view name) const {
    return candidate(id) + "/" + std::string(name);
  }
};

/// Whether a word can name a candidate's folder. Other words are never joined to a path.
bool is_candidate_id(std::string_view word);
/// Whether this is a temporary file that an interrupted write left behind.
bool is_leftover(std::string_view name);

}  // namespace kw::store
