#include "store/gc.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "os/disk.h"
#include "os/files.h"
#include "os/lock.h"
#include "store/layout.h"
#include "store/run_id.h"

namespace kw::store {

namespace {

constexpr const char* kTrash = ".trash-";
constexpr double kDay = 86400;

// An unfinished creation has no manifest, so the folder's date is used.
int64_t created_at(const RunRow& run) {
  if (const int64_t seconds = utc_seconds(run.created); seconds >= 0) return seconds;
  struct stat st {};
  return ::stat(run.folder.c_str(), &st) == 0 ? st.st_mtim.tv_sec : 0;
}

Status remove_run(const std::string& root, const std::string& folder) {
  const std::filesystem::path path(folder);
  const std::string trash = root + "/" + kTrash + path.filename().string();
  // The lock is taken before the move and kept until the folder is deleted, so no other process
  // can use it.
  const os::FileLock lock = KW_TRY(os::FileLock::take(Layout{folder}.lock()));
  std::error_code code;
  std::filesystem::rename(path, trash, code);
  if (code) return environment_error("removing {}: {}", folder, code.message());
  return os::real_disk().remove(trash);
}

Status empty_trash(const std::string& root) {
  for (const std::string& name : os::list_directory(root)) {
    if (name.starts_with(kTrash)) KW_TRY(os::real_disk().remove(root + "/" + name));
  }
  return Done{};
}

std::string reason(const GcRequest& request, const RunRow& run, int64_t excess) {
  const double age = static_cast<double>(wall_clock() - created_at(run));
  if (request.older_than_seconds && age > *request.older_than_seconds) {
    return age < 2 * kDay ? fmt::format("{:.1f} hours old", age / 3600)
                          : fmt::format("{:.0f} days old", age / kDay);
  }
  return request.budget_bytes && excess > 0 ? "over the budget" : "";
}

}  // namespace

int64_t GcReport::removable() const {
  return std::count_if(items.begin(), items.end(),
                       [](const GcItem& item) { return item.problem.empty(); });
}

Result<GcReport> collect_garbage(const GcRequest& request) {
  std::vector<RunRow> rows = KW_TRY(list_runs(request.root));
  std::stable_sort(rows.begin(), rows.end(),
                   [](const RunRow& a, const RunRow& b) { return created_at(a) < created_at(b); });
  GcReport report;
  report.runs = static_cast<int64_t>(rows.size());
  for (const RunRow& row : rows) report.bytes += row.bytes;
  const int64_t candidates = report.runs - request.keep;
  for (int64_t i = 0; i < candidates; ++i) {
    const RunRow& row = rows[static_cast<size_t>(i)];
    if (row.status == "running") continue;
    const int64_t excess = report.bytes - report.freed - request.budget_bytes.value_or(0);
    GcItem item{row, reason(request, row, excess), ""};
    if (item.why.empty()) continue;
    if (request.remove) {
      const Status removed = remove_run(request.root, row.folder);
      if (!removed) item.problem = removed.error().message;
    }
    if (item.problem.empty()) report.freed += row.bytes;
    report.items.push_back(std::move(item));
  }
  if (request.remove) {
    KW_TRY(empty_trash(request.root));
    KW_TRY(list_runs(request.root));  // removes their rows from the index
  }
  return report;
}

}  // namespace kw::store
