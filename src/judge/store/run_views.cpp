// Stores transcripts, and folders that show candidates in the order of the trials. They hold links,
// so each file exists once.
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/check.h"
#include "os/files.h"
#include "store/run_impl.h"

namespace kw::store {

namespace {

/// Nothing is written outside the folder or over its own records.
bool is_transcript_path(const std::string& path) {
  if (!path.starts_with("stage") && !path.starts_with("llm/")) return false;
  for (const std::filesystem::path& part : std::filesystem::path(path)) {
    if (part.empty() || part == "." || part == "..") return false;
  }
  return true;
}

Status link_file(const std::string& link, const std::string& target) {
  std::error_code failed;
  std::filesystem::remove(link, failed);
  std::filesystem::create_symlink(target, link, failed);
  if (failed) return environment_error("{}: {}", link, failed.message());
  return Done{};
}

}  // namespace

Status Run::write(const std::string& path, const std::string& text) {
  KW_CHECK(impl_->lock.has_value(), "only a run opened for writing is written to");
  KW_CHECK(is_transcript_path(path), "transcripts stay in their folders");
  const std::string whole = impl_->at.folder + "/" + path;
  KW_TRY(impl_->disk.make_directories(std::filesystem::path(whole).parent_path().string()));
  return impl_->disk.write(whole, text, os::Sync::No);
}

Status Run::show(const std::string& path, const std::string& id) {
  KW_CHECK(impl_->lock.has_value(), "only a run opened for writing is written to");
  KW_CHECK(is_transcript_path(path + "/x"), "views stay in their folders");
  const bool shipped = id == "final";
  KW_CHECK(shipped || is_candidate_id(id), "what is shown was added");
  const std::string folder = impl_->at.folder + "/" + path;
  KW_TRY(impl_->disk.make_directories(folder));
  std::string up = "../";
  for (const char c : path) up += c == '/' ? "../" : "";
  const std::string from = shipped ? "final" : "candidates/" + id;
  constexpr std::pair<const char*, const char*> kShown[] = {{"kernel.cu", "module.cu"},
                                                            {"compile.log", "compile.log"},
                                                            {"result.json", "verdict.json"},
                                                            {"timing.json", "timing.json"},
                                                            {"profile.json", "profile.json"}};
  for (const auto& [name, file] : kShown) {
    const std::string source = from + "/" + (shipped ? name : file);
    if (!os::exists(impl_->at.folder + "/" + source)) continue;
    KW_TRY(link_file(folder + "/" + name, up + source));
  }
  return Done{};
}

}  // namespace kw::store
