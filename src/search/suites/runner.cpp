// An evaluation runs for hours, so an interruption or one bad task must not lose the rest. Each
// task's row is written when it ends, and all documents are written again from the rows; a stopped
// evaluation always has valid results. Resuming keeps rows that passed and whose task files have
// the same hash, and runs the others. An exception of a task becomes a row with a failure. Threads
// take tasks from one list; one mutex guards the rows and the files. Writing only at the end was
// the alternative. The cost: documents are made once per task, which is cheap compared with a task.
#include "suites/runner.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>

#include "core/text.h"
#include "os/files.h"
#include "os/inside.h"
#include "os/leftovers.h"
#include "os/lock.h"
#include "os/memory.h"
#include "os/parallel.h"
#include "suites/results_folder.h"

namespace kw::suites {

namespace {

TaskRow failed_row(const char* kind, const std::string& reason) {
  TaskRow row;
  row.failure_kind = kind;
  row.failed_stage = "runner";
  row.failure_reason = reason;
  return row;
}

/// The result of a task even if it throws: one bad task must not stop the others.
TaskOutcome run_guarded(const RunTask& run, const TaskJob& job) {
  try {
    return run(job);
  } catch (const std::bad_alloc&) {
    return {failed_row(kExternalError, "out of memory"), {}, false};
  } catch (const std::system_error& refused) {
    return {failed_row(kExternalError, refused.what()), {}, false};
  } catch (const std::exception& error) {
    return {failed_row(kRunnerError, error.what()), {}, false};
  }
}

class Runner {
 public:
  Runner(const RunnerRequest& request, const RunnerPorts& ports)
      : request_(request), ports_(ports), folder_(request.out) {}

  Result<Evaluation> run() {
    // Names that may be misspelt are checked before a folder is created.
    if (!request_.against.empty()) before_ = KW_TRY(read_results(request_.against));
    suite_ = KW_TRY(task_formats::open_suite(request_.suite, folder_.suites()));
    selected_ = KW_TRY(task_formats::select_tasks(suite_, request_.only));
    KW_TRY(os::make_directories(request_.out));
    const os::FileLock lock = KW_TRY(os::FileLock::take(request_.out + "/lock"));
    os::remove_leftovers(request_.out, "artifacts");
    KW_TRY(prepare());
    run_all();
    if (problem_) return std::move(*problem_);
    std::lock_guard guard(mutex_);
    evaluation_.interrupted = ports_.interrupted();
    KW_TRY(write_documents());
    return std::move(evaluation_);
  }

 private:
  Status prepare() {
    Manifest manifest{request_.suite, ports_.now(), request_.settings};
    KW_TRY(folder_.open(request_.resume, &manifest));
    if (task_formats::is_carried(request_.suite))
      KW_TRY(task_formats::write_carried(request_.suite, folder_.suites()));
    for (const task_formats::SuiteTask& task : suite_.tasks) {
      std::optional<TaskRow> row = folder_.row(task.name);
      if (row && row->task_hash == task.hash) rows_[task.name] = std::move(*row);
    }
    evaluation_.suite = request_.suite;
    evaluation_.settings = request_.settings;
    evaluation_.version = request_.version;
    evaluation_.started = manifest.started;
    evaluation_.command = request_.command;
    evaluation_.against = request_.against;
    evaluation_.selected =
        std::ranges::count_if(suite_.tasks, [&](const task_formats::SuiteTask& task) {
          return rows_.count(task.name) > 0 ||
                 std::ranges::find(selected_, task.name, &task_formats::SuiteTask::name) !=
                     selected_.end();
        });
    return write_documents();
  }

  void run_all() {
    const auto jobs = std::min<size_t>(static_cast<size_t>(std::max(request_.jobs, 1)),
                                       std::max<size_t>(selected_.size(), 1));
    os::parallel_for(static_cast<int>(jobs), static_cast<int64_t>(jobs),
                     [this](int, int64_t worker) { work(static_cast<int>(worker)); });
  }

  void work(int worker) {
    while (const task_formats::SuiteTask* task = next()) {
      const auto start = std::chrono::steady_clock::now();
      const TaskJob job{task, folder_.artifacts(task->name), worker,
                        [this, task](const std::string& text) {
                          report_progress(RunnerEvent::Kind::Says, *task, text, nullptr);
                        }};
      TaskOutcome outcome = run_guarded(ports_.run, job);
      if (outcome.interrupted || (!outcome.row.passed && ports_.interrupted())) continue;
      const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
      if (outcome.row.wall_seconds <= 0) outcome.row.wall_seconds = passed.count();
      outcome.row.kernel = task->name;
      outcome.row.task_hash = task->hash;
      outcome.row.finished = ports_.now();
      keep(*task, std::move(outcome));
      os::return_free_memory();
    }
  }

  /// The next task to run. Tasks that passed before are skipped.
  const task_formats::SuiteTask* next() {
    while (true) {
      std::unique_lock guard(mutex_);
      if (problem_ || ports_.interrupted() || at_ == selected_.size()) return nullptr;
      const task_formats::SuiteTask& task = selected_[at_++];
      const auto row = rows_.find(task.name);
      const bool kept = row != rows_.end() && row->second.passed;
      if (!kept && request_.limit > 0 && started_ == request_.limit) return nullptr;
      if (!kept) ++started_;
      guard.unlock();
      report_progress(kept ? RunnerEvent::Kind::Kept : RunnerEvent::Kind::Started, task, "",
                      kept ? &row->second : nullptr);
      if (!kept) return &task;
    }
  }

  void keep(const task_formats::SuiteTask& task, TaskOutcome outcome) {
    {
      std::lock_guard guard(mutex_);
      rows_[task.name] = outcome.row;
      Status written = folder_.write_row(outcome.row, outcome.report);
      if (written) written = write_documents();
      if (!written && !problem_) problem_ = std::move(written).error();
    }
    report_progress(RunnerEvent::Kind::Finished, task, "", &outcome.row);
  }

  Status write_documents() {
    evaluation_.rows.clear();
    for (const task_formats::SuiteTask& task : suite_.tasks) {
      const auto row = rows_.find(task.name);
      if (row != rows_.end()) evaluation_.rows.push_back(row->second);
    }
    evaluation_.updated = ports_.now();
    compute_totals(before_, &evaluation_);
    return folder_.write_documents(evaluation_);
  }

  void report_progress(RunnerEvent::Kind kind, const task_formats::SuiteTask& task,
                       const std::string& text, const TaskRow* row) {
    if (!ports_.watch) return;
    std::lock_guard guard(watch_mutex_);
    const auto at = std::ranges::find(selected_, task.name, &task_formats::SuiteTask::name);
    const auto number = static_cast<size_t>(at - selected_.begin()) + 1;
    ports_.watch({kind, number, selected_.size(), task.name, text, row});
  }

  const RunnerRequest& request_;
  const RunnerPorts& ports_;
  Folder folder_;
  task_formats::Suite suite_;
  std::vector<task_formats::SuiteTask> selected_;
  std::vector<TaskRow> before_;

  std::mutex mutex_;  // guards the members below
  std::map<std::string, TaskRow> rows_;
  size_t at_ = 0;
  int64_t started_ = 0;
  Evaluation evaluation_;
  std::optional<Error> problem_;
  std::mutex watch_mutex_;
};

}  // namespace

Result<Evaluation> run_suite(const RunnerRequest& request, const RunnerPorts& ports) {
  return Runner(request, ports).run();
}

Result<std::vector<TaskRow>> read_results(const std::string& path) {
  const bool folder = os::is_directory(path);
  const std::string file = folder ? path + "/results.csv" : path;
  const std::string text = KW_TRY(folder ? os::read_inside(path, "results.csv", kMostResultBytes)
                                         : os::read_file(path, kMostResultBytes));
  Result<std::vector<TaskRow>> rows = rows_from_csv(text);
  if (!rows) return std::move(rows).error().context("reading " + file);
  return rows;
}

}  // namespace kw::suites
