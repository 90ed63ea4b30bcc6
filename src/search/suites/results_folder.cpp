#include "suites/results_folder.h"

#include <fmt/core.h>

#include <filesystem>

#include "core/json_writer.h"
#include "os/files.h"
#include "os/inside.h"

namespace kw::suites {

namespace {

constexpr const char* kFormat = "kernelwright evaluation";
constexpr int kVersion = 1;

Json to_json(const Manifest& manifest) {
  JsonWriter v;
  v("format", kFormat)("version", kVersion)("suite", manifest.suite)("started", manifest.started);
  return v("settings", manifest.settings).take();
}

/// The first difference from the earlier request, or "".
std::string difference(const Json& before, const Manifest& now) {
  if (before["suite"].as_string() != now.suite)
    return fmt::format("suite '{}', not '{}'", before["suite"].as_string(), now.suite);
  for (const auto& [name, value] : now.settings) {
    const std::string& was = before["settings"][name].as_string();
    if (was != value) return fmt::format("{} '{}', not '{}'", name, was, value);
  }
  return "";
}

/// Another user may have made the folder, so our files must really be inside it.
Status check_parts(const std::string& folder) {
  for (const char* name : {"kernels", "suite", "artifacts"}) {
    std::error_code failed;
    const std::string path = folder + "/" + name;
    if (!std::filesystem::exists(std::filesystem::symlink_status(path, failed))) continue;
    KW_TRY(os::inside(folder, name));
    KW_TRY(os::check_contained(path));
  }
  return Done{};
}

}  // namespace

Status Folder::open(bool resume, Manifest* manifest) {
  const std::string path = path_ + "/eval.json";
  KW_TRY(check_parts(path_));
  if (!os::exists(path)) {
    if (os::exists(path_ + "/results.csv")) {
      return input_error("'{}' has a results.csv that no evaluation wrote; name another folder",
                         path_);
    }
    KW_TRY(os::make_directories(path_ + "/kernels"));
    return os::write_inside(path_, "eval.json", to_json(*manifest).dump(true) + "\n");
  }
  if (!resume) {
    return input_error(
        "'{}' contains an evaluation already; continue it with --resume, or name another folder",
        path_);
  }
  const std::string text = KW_TRY(os::read_inside(path_, "eval.json", kMostResultBytes));
  const Result<Json> before = Json::parse(text);
  if (!before || (*before)["format"].as_string() != kFormat)
    return input_error("'{}' is not an evaluation's folder: it cannot be continued", path);
  if (const std::string other = difference(*before, *manifest); !other.empty()) {
    return input_error("the evaluation in '{}' was made with {}; results of both do not mix", path_,
                       other);
  }
  manifest->started = (*before)["started"].as_string();
  return os::make_directories(path_ + "/kernels");
}

std::optional<TaskRow> Folder::row(const std::string& task) const {
  const Result<std::string> text =
      os::read_inside(path_, "kernels/" + task + ".json", kMostResultBytes);
  if (!text) return std::nullopt;
  const Result<Json> json = Json::parse(*text);
  if (!json) return std::nullopt;
  Result<TaskRow> row = row_from_json(*json);
  if (!row || row->kernel != task) return std::nullopt;
  return std::move(row).value();
}

Status Folder::write_row(const TaskRow& row, const Json& report) const {
  Json json = suites::to_json(row);
  json.set("report", report);
  return os::write_inside(path_, "kernels/" + row.kernel + ".json", json.dump(true) + "\n");
}

Status Folder::write_documents(const Evaluation& evaluation) const {
  KW_TRY(os::write_inside(path_, "results.csv", to_csv(evaluation.rows)));
  KW_TRY(os::write_inside(path_, "summary.md", summary_markdown(evaluation), os::Sync::No));
  KW_TRY(os::write_inside(path_, "junit.xml", junit_xml(evaluation), os::Sync::No));
  return os::write_inside(path_, "summary.json", suites::to_json(evaluation).dump(true) + "\n",
                          os::Sync::No);
}

}  // namespace kw::suites
