// What fsck finds in a run is what inspect lists, and what other commands never look at: modes,
// leftovers, the index. Repairs go through a session of the run, so they are signed events as well:
// a file that was moved aside has an event that says so, and the next fsck is silent about it.
#include "workflows/fsck.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "core/json_writer.h"
#include "core/text.h"
#include "os/files.h"
#include "os/own_files.h"
#include "store/find.h"
#include "store/index.h"
#include "store/run.h"
#include "workflows/run_damage.h"

namespace kw::workflows {

namespace {

namespace fs = std::filesystem;

std::string base_name(const std::string& folder) { return fs::path(folder).filename(); }

/// Files and folders of the run that other users may read or change.
std::vector<std::string> shared_files(const std::string& folder) {
  std::vector<std::string> shared;
  const auto look = [&](const std::string& path) {
    struct stat st {};
    const bool seen = ::lstat(path.c_str(), &st) == 0 && !S_ISLNK(st.st_mode);
    if (seen && (st.st_mode & 0077) != 0) shared.push_back(path);
  };
  look(folder);
  std::error_code code;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, code);
  for (; !code && at != fs::recursive_directory_iterator(); at.increment(code)) look(at->path());
  return shared;
}

/// Takes all rights of other users. A link is not followed.
bool make_own(const std::string& path) {
  struct stat st {};
  return ::lstat(path.c_str(), &st) == 0 && !S_ISLNK(st.st_mode) && st.st_uid == ::geteuid() &&
         ::chmod(path.c_str(), st.st_mode & 0700) == 0;
}

class Fsck {
 public:
  explicit Fsck(const FsckRequest& request) : request_(request) {}

  Result<FsckReport> run() {
    check_key();
    if (!request_.run.empty()) {
      check_run(KW_TRY(store::find_run(request_.root, request_.run)));
      return std::move(report_);
    }
    for (const std::string& name : os::list_directory(request_.root)) check_entry(name);
    check_index();
    return std::move(report_);
  }

 private:
  FsckFinding& tell(const std::string& where, std::string what, std::string todo = "") {
    return report_.findings.emplace_back(FsckFinding{where, std::move(what), std::move(todo)});
  }

  void check_key() {
    const std::string fault = store::key_fault();
    if (!fault.empty()) tell("key", fault, "until then new records are not signed");
  }

  void check_entry(const std::string& name) {
    const std::string folder = request_.root + "/" + name;
    if (name.starts_with(".trash-")) {
      tell(name, "an interrupted 'gc --delete' left it", "finish with: kernelwright gc --delete");
    } else if (os::exists(folder + "/run.json")) {
      check_run(folder);
    } else if (store::run_status(folder) != "running" && os::exists(folder + "/lock") &&
               os::is_directory(folder + "/inputs")) {
      tell(name, "it has no run.json, or its creation was cut short",
           "restore run.json, or remove the folder")
          .note = true;
    }
  }

  void check_run(const std::string& folder) {
    const std::string where = base_name(folder);
    ++report_.runs;
    if (store::run_status(folder) == "running") {
      tell(where, "a process works on it; it was not checked").note = true;
      return;
    }
    check_modes(folder);
    const Result<store::Run> run = store::Run::open(folder, store::Access::Read);
    if (!run) {
      tell(where, run.error().message, "restore it from a copy, or remove the folder");
      return;
    }
    report_.candidates += static_cast<int64_t>(run->candidates().size());
    const std::string resume = "kernelwright resume " + shell_quote(folder);
    if (const std::string foreign = run->foreign(); !foreign.empty())
      tell(where, "it is " + foreign + ", so its verdicts are not checked",
           "judge them again with: " + resume)
          .note = true;
    const std::vector<std::string> leftovers = run->leftovers();
    const std::vector<std::string> damage = damage_of(*run);
    const bool mended = request_.repair && (!leftovers.empty() || !damage.empty()) && mend(folder);
    if (!leftovers.empty())
      tell(where, fmt::format("{} unfinished files of a killed process", leftovers.size()),
           "kernelwright fsck --repair, or the next session, removes them")
          .repaired = mended && left_over(folder) == 0;
    const std::vector<std::string> after = mended ? damage_now(folder) : damage;
    for (const std::string& what : damage)
      tell(where, what, "it is not used; candidates are judged again by: " + resume).repaired =
          std::ranges::count(after, what) == 0;
  }

  static size_t left_over(const std::string& folder) {
    const Result<store::Run> run = store::Run::open(folder, store::Access::Read);
    return run ? run->leftovers().size() : 0;
  }

  static std::vector<std::string> damage_now(const std::string& folder) {
    const Result<store::Run> run = store::Run::open(folder, store::Access::Read);
    return run ? damage_of(*run) : std::vector<std::string>{};
  }

  /// A session that removes leftovers and moves altered results aside.
  bool mend(const std::string& folder) {
    Result<store::Run> run = store::Run::open(folder, store::Access::Write);
    if (!run) {
      tell(base_name(folder), "it cannot be repaired: " + run.error().message);
      return false;
    }
    const Status moved = run->set_altered_aside();
    if (!moved) tell(base_name(folder), moved.error().message);
    return bool(moved);
  }

  void check_modes(const std::string& folder) {
    const std::vector<std::string> shared = shared_files(folder);
    if (shared.empty()) return;
    FsckFinding& finding =
        tell(base_name(folder),
             fmt::format("other users can read or change {} of its files, such as {}",
                         shared.size(), shared.front()),
             "chmod -R go= " + shell_quote(folder));
    if (request_.repair) finding.repaired = std::ranges::all_of(shared, make_own);
  }

  void check_index() {
    const std::vector<std::string> wrong = store::index_faults(request_.root);
    if (wrong.empty()) return;
    const bool rebuilt = request_.repair && bool(store::rebuild_index(request_.root));
    for (const std::string& what : wrong)
      tell("index", what, "rebuild it with: kernelwright fsck --all --repair").repaired = rebuilt;
  }

  const FsckRequest& request_;
  FsckReport report_;
};

Json finding_json(const FsckFinding& f) {
  JsonWriter v;
  v("where", f.where)("what", f.what)("todo", f.todo)("note", f.note)("repaired", f.repaired);
  return v.take();
}

}  // namespace

bool FsckReport::has_faults() const {
  return std::ranges::any_of(findings,
                             [](const FsckFinding& one) { return !one.note && !one.repaired; });
}

Result<FsckReport> fsck(const FsckRequest& request) { return Fsck(request).run(); }

Json to_json(const FsckReport& report) {
  Json findings = Json::array();
  for (const FsckFinding& one : report.findings) findings.push(finding_json(one));
  JsonWriter v;
  v("runs", report.runs)("candidates", report.candidates)("faults", report.has_faults());
  return v("findings", std::move(findings)).take();
}

}  // namespace kw::workflows
