// The problem: suites come as our folders, KernelBench files, cuda-engine fixtures or robust-kbench
// folders, or inside this program. The choice: a search recognises tasks by file names only, and
// makes a name and a hash for each. The alternative, loading each task, would make listing a suite
// slow and stop at a broken task. The cost: a Python file that is not a task is listed too, and
// only loading it reports that. Tasks are sorted by name with numbers compared as numbers, because
// results are stored by name.
#include "task_formats/suite.h"

#include <fmt/core.h>
#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/hash.h"
#include "core/text.h"
#include "kSuiteFiles.inc"
#include "os/files.h"
#include "os/inside.h"

namespace kw::task_formats {

namespace {

constexpr int kMostDepth = 8;
constexpr size_t kMostTasks = 10000;
/// Larger than any allowed file of a task.
constexpr uint64_t kMostHashedBytes = 4 << 20;

/// Our own format, or a fixture of cuda-engine.
bool is_task_folder(const std::string& path) {
  const auto has = [&](const char* name) { return os::exists(path + "/" + name); };
  return has("task.toml") ||
         (has("prompt.txt") && has("reference.py") && has("shapes.yaml") && has("notes.md"));
}

/// A robust-kbench folder has a Python file per direction; each is a task.
constexpr const char* kDirections[][2] = {{"/func_forward.py", ""},
                                          {"/func_backward.py", ".backward"}};
bool is_robust_folder(const std::string& path) {
  return std::ranges::any_of(kDirections,
                             [&](const auto& row) { return os::exists(path + row[0]); });
}

std::string base_name(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

/// Helpers, packages and tests are not tasks.
bool is_task_file(const std::string& name) {
  return name.ends_with(".py") && !name.starts_with("_") && !name.starts_with(".") &&
         !name.starts_with("test_") && name != "conftest.py" && name != "setup.py";
}

/// "level1/10_Relu.py" -> "level1.10_Relu": turns a path into a file name.
std::string task_name(std::string relative) {
  if (relative.ends_with(".py")) relative.resize(relative.size() - 3);
  std::ranges::replace(relative, '/', '.');
  return relative;
}

/// "2_b" before "10_a": numbers in names are compared as numbers.
bool natural_less(const std::string& a, const std::string& b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (digit(a[i]) && digit(b[j])) {
      const size_t start_a = std::min(a.find_first_not_of('0', i), a.size());
      const size_t start_b = std::min(b.find_first_not_of('0', j), b.size());
      size_t end_a = start_a, end_b = start_b;
      while (end_a < a.size() && digit(a[end_a])) ++end_a;
      while (end_b < b.size() && digit(b[end_b])) ++end_b;
      if (end_a - start_a != end_b - start_b) return end_a - start_a < end_b - start_b;
      const int order = a.compare(start_a, end_a - start_a, b, start_b, end_b - start_b);
      if (order != 0) return order < 0;
      i = end_a;
      j = end_b;
      continue;
    }
    if (a[i] != b[j]) return a[i] < b[j];
    ++i;
    ++j;
  }
  return a.size() - i < b.size() - j;
}

using Texts = std::map<std::string, std::string>;  // by name

std::string hash_of(const Texts& files) {
  std::string all;
  for (const auto& [name, text] : files)
    all += fmt::format("{}\n{}\n{}\n", name, text.size(), text);
  return hash_hex(all);
}

/// An unreadable file counts as empty: the front end reports it when it loads the task.
std::string hash_of(const std::string& path) {
  Texts files;
  if (os::is_directory(path)) {
    for (const std::string& name : os::list_directory(path)) {
      Result<std::string> text = os::read_inside(path, name, kMostHashedBytes);
      if (text) files[name] = std::move(text).value();
    }
  } else if (Result<std::string> text = os::read_file(path, kMostHashedBytes)) {
    files[base_name(path)] = std::move(text).value();
  }
  return hash_of(files);
}

class Finder {
 public:
  Result<std::vector<SuiteTask>> run(const std::string& root) {
    root_ = root;
    if (is_task_folder(root) || !os::is_directory(root)) {
      KW_TRY(add(base_name(root), root));
    } else if (is_robust_folder(root)) {
      KW_TRY(add_directions(base_name(root), root));
    } else {
      KW_TRY(look(root, "", 0));
    }
    tell_apart();
    return std::move(tasks_);
  }

 private:
  Status look(const std::string& folder, const std::string& relative, int depth) {
    if (depth > kMostDepth) return Done{};
    for (const std::string& name : os::list_directory(folder)) {
      if (name.starts_with(".") || name == "__pycache__") continue;
      const std::string path = folder + "/" + name;
      const std::string inner = relative.empty() ? name : relative + "/" + name;
      if (os::is_directory(path) || is_task_file(name)) KW_TRY(os::inside(root_, inner));
      if (os::is_directory(path) && !is_task_folder(path)) {
        KW_TRY(is_robust_folder(path) ? add_directions(inner, path) : look(path, inner, depth + 1));
      } else if (os::is_directory(path) || is_task_file(name)) {
        KW_TRY(add(inner, path));
      }
    }
    return Done{};
  }

  Status add(const std::string& relative, const std::string& path) {
    if (tasks_.size() == kMostTasks)
      return input_error("more than {} tasks; name a smaller folder", kMostTasks);
    tasks_.push_back({task_name(relative), path, hash_of(path)});
    return Done{};
  }

  Status add_directions(const std::string& relative, const std::string& folder) {
    for (const auto& [file, ending] : kDirections) {
      if (!os::exists(folder + file)) continue;
      KW_TRY(add(relative + ending, folder + file));
      tasks_.back().hash = hash_of(folder);  // a task includes its configurations
    }
    return Done{};
  }

  /// "a/b.py" and "a.b.py" would share a name, and results are stored by name.
  void tell_apart() {
    std::ranges::sort(tasks_, natural_less, &SuiteTask::name);
    std::set<std::string> taken;
    for (SuiteTask& task : tasks_) {
      const std::string name = task.name;
      for (int i = 2; !taken.insert(task.name).second; ++i)
        task.name = fmt::format("{}-{}", name, i);
    }
  }

  std::string root_;
  std::vector<SuiteTask> tasks_;
};

/// The part before the first '/', and the rest.
std::pair<std::string, std::string> split_first(const std::string& path) {
  const size_t slash = path.find('/');
  if (slash == std::string::npos) return {path, ""};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

/// Files of a carried suite by path inside it.
Texts carried_files(const std::string& suite) {
  Texts files;
  for (const auto* row = kSuiteFiles; row->name != nullptr; ++row) {
    const auto [first, rest] = split_first(row->name);
    if (first == suite && !rest.empty()) files[rest] = row->text;
  }
  return files;
}

/// The tasks that Finder would find if the files had been written.
std::vector<SuiteTask> carried_tasks(const std::string& suite, const std::string& folder) {
  std::map<std::string, Texts> by_task;  // the first part of the path: a folder or a file
  for (const auto& [path, text] : carried_files(suite)) {
    const auto [task, file] = split_first(path);
    if (!file.empty() || is_task_file(task)) by_task[task][file.empty() ? task : file] = text;
  }
  std::vector<SuiteTask> tasks;
  for (const auto& [name, files] : by_task)
    tasks.push_back({task_name(name), folder + "/" + suite + "/" + name, hash_of(files)});
  std::ranges::sort(tasks, natural_less, &SuiteTask::name);
  return tasks;
}

Error unknown_suite(const std::string& name) {
  std::vector<std::string> names, listed;
  for (const SuiteInfo& suite : carried_suites()) {
    names.push_back(suite.name);
    listed.push_back(fmt::format("{} ({} tasks)", suite.name, suite.tasks));
  }
  return input_error("there is no suite and no folder '{}'{}; suites: {}", name,
                     did_you_mean(name, names), join(listed, ", "));
}

}  // namespace

std::vector<SuiteInfo> carried_suites() {
  std::set<std::string> names;
  for (const auto* row = kSuiteFiles; row->name != nullptr; ++row)
    names.insert(split_first(row->name).first);
  std::vector<SuiteInfo> suites;
  for (const std::string& name : names) {
    const size_t tasks = carried_tasks(name, "").size();
    if (tasks > 0) suites.push_back({name, tasks});
  }
  return suites;
}

bool is_carried(const std::string& name) {
  return name.find('/') == std::string::npos && !carried_tasks(name, "").empty();
}

Result<Suite> open_suite(const std::string& name_or_path, const std::string& folder) {
  if (is_carried(name_or_path)) return Suite{name_or_path, carried_tasks(name_or_path, folder)};
  if (!os::exists(name_or_path)) return unknown_suite(name_or_path);
  std::string path = name_or_path;
  while (path.size() > 1 && path.ends_with("/")) path.pop_back();
  Suite suite{name_or_path, KW_TRY(Finder().run(path))};
  if (suite.tasks.empty()) {
    return input_error("'{}' has no tasks: neither folders with a task.toml nor Python files",
                       name_or_path);
  }
  return suite;
}

Status write_carried(const std::string& name, const std::string& folder) {
  for (const auto& [file, text] : carried_files(name)) {
    const std::string path = folder + "/" + name + "/" + file;
    const Result<std::string> present = os::read_file(path);
    if (present && *present == text) continue;
    KW_TRY(os::make_directories(path.substr(0, path.find_last_of('/'))));
    KW_TRY(os::write_file(path, text, os::Sync::No));
  }
  return Done{};
}

Result<std::vector<SuiteTask>> select_tasks(const Suite& suite, const std::string& only) {
  if (trim(only).empty()) return suite.tasks;
  std::vector<std::string> names;
  for (const SuiteTask& task : suite.tasks) names.push_back(task.name);
  std::vector<bool> chosen(suite.tasks.size(), false);
  for (const std::string& piece : split(only, ',')) {
    const std::string pattern(trim(piece));
    if (pattern.empty()) continue;
    bool any = false;
    for (size_t i = 0; i < names.size(); ++i) {
      if (::fnmatch(pattern.c_str(), names[i].c_str(), 0) != 0) continue;
      chosen[i] = any = true;
    }
    if (!any) {
      return input_error("the suite has no task '{}'{}", pattern, did_you_mean(pattern, names));
    }
  }
  std::vector<SuiteTask> tasks;
  for (size_t i = 0; i < names.size(); ++i) {
    if (chosen[i]) tasks.push_back(suite.tasks[i]);
  }
  return tasks;
}

}  // namespace kw::task_formats
