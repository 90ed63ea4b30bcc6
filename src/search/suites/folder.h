// The results folder of an evaluation: one JSON per task, the tables and documents made of all, and
// what was asked. Written file by file with rename, so that it is whole at any time.
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

/// What was asked; results under other settings do not mix.
struct Manifest {
  std::string suite, started;
  std::vector<std::pair<std::string, std::string>> settings;
};

class Folder {
 public:
  explicit Folder(std::string path) : path_(std::move(path)) {}

  /// A new evaluation, or with `resume` the one that is there (then `manifest` takes its start).
  /// Input Errors: there is one already; it was made with other settings.
  Status open(bool resume, Manifest* manifest);

  std::string suites() const { return path_ + "/suite"; }
  std::string artifacts(const std::string& task) const { return path_ + "/artifacts/" + task; }
  /// The row of a task, if it has one that can be read.
  std::optional<Row> row(const std::string& task) const;
  Status write_row(const Row& row, const Json& report) const;
  Status write_documents(const Evaluation& evaluation) const;

 private:
  std::string path_;
};

}  // namespace kw::suites
