// The results folder of an evaluation: one JSON per task, tables and documents of all, and the
// request. Each file is written and renamed, so the folder is complete at any time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "suites/evaluation.h"

namespace kw::suites {

inline constexpr uint64_t kMostResultBytes = uint64_t{256} << 20;

/// The request. Results of different settings are not mixed.
struct Manifest {
  std::string suite, started;
  std::vector<std::pair<std::string, std::string>> settings;
};

class Folder {
 public:
  explicit Folder(std::string path) : path_(std::move(path)) {}

  /// Starts a new evaluation, or with `resume` continues the existing one; then `manifest` gets its
  /// start time. Input Errors: one exists already, or it has other settings.
  Status open(bool resume, Manifest* manifest);

  std::string suites() const { return path_ + "/suite"; }
  std::string artifacts(const std::string& task) const { return path_ + "/artifacts/" + task; }
  /// The row of a task, if there is one that can be read.
  std::optional<TaskRow> row(const std::string& task) const;
  Status write_row(const TaskRow& row, const Json& report) const;
  Status write_documents(const Evaluation& evaluation) const;

 private:
  std::string path_;
};

}  // namespace kw::suites
