// Listing runs must not read thousands of files. Every change of a run ends in events.jsonl, so the
// size and time of that file show whether a row is still true. The index is therefore only a cache.
// A reader reads again the folders whose mark differs. A writer that cannot write the index ignores
// it. A damaged file or another version is deleted; a read-only one is not used. SQLite notices
// damage to its own structure only, so each mark ends in a hash of its row. The alternative, an
// index that is the only record, would need every writer to be safe against crashes twice. The
// cost: each listing checks the files of every run.
#include "store/index.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "core/hash.h"
#include "core/text.h"
#include "os/disk.h"
#include "os/files.h"
#include "os/inside.h"
#include "os/lock.h"
#include "store/database.h"
#include "store/run_impl.h"
#include "store/summary.h"

namespace kw::store {

namespace {

constexpr int64_t kIndexVersion = 3;

constexpr const char* kNotesSchema =
    "CREATE TABLE IF NOT EXISTS notes (folder TEXT PRIMARY KEY, mark TEXT NOT NULL, "
    "text TEXT NOT NULL, proof TEXT NOT NULL) WITHOUT ROWID";

constexpr const char* kSchema =
    "CREATE TABLE IF NOT EXISTS runs (folder TEXT PRIMARY KEY, mark TEXT NOT NULL, id TEXT, "
    "name TEXT, created TEXT, status TEXT, proposer TEXT, target TEXT, reason TEXT, "
    "candidates INTEGER, judged INTEGER, passed INTEGER, seconds REAL, best_us REAL, "
    "estimate_us REAL, speedup REAL, bytes INTEGER) WITHOUT ROWID";

SqlValue optional_value(const std::optional<double>& value) {
  return value ? SqlValue(*value) : SqlValue(std::monostate{});
}

constexpr size_t kMark = 1;  // the column

std::string text_of(const SqlValue& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  return text(value);
}

/// The mark in the index: the folder's, with a hash of all other columns.
std::string row_mark(const std::string& mark, const SqlRow& row) {
  std::string all = mark;
  for (size_t i = 0; i < row.size(); ++i) {
    if (i != kMark) all += '\0' + text_of(row[i]);
  }
  return mark + ' ' + hash_hex(all);
}

class Index {
 public:
  static Result<Index> open(const std::string& path) {
    Index index(KW_TRY(Database::open(path)));
    const std::vector<SqlRow> version = KW_TRY(index.database_.run("PRAGMA user_version"));
    const int64_t found = version.empty() ? 0 : integer(version[0][0]);
    if (found != 0 && found != kIndexVersion) {
      return input_error("index: it is of version {}", found);
    }
    KW_TRY(index.database_.run(kSchema));
    KW_TRY(index.database_.run(kNotesSchema));
    if (found == 0)
      KW_TRY(index.database_.run(fmt::format("PRAGMA user_version = {}", kIndexVersion)));
    return index;
  }

  Status check() { return database_.check(); }

  Status put(const std::string& folder, const std::string& mark, const RunSummary& summary) {
    const RunRow& run = summary.run;
    SqlRow row = {folder,
                  "",
                  run.id,
                  run.name,
                  run.created,
                  run.status,
                  run.proposer,
                  run.target,
                  run.reason,
                  run.candidates,
                  run.judged,
                  run.passed,
                  run.seconds,
                  optional_value(run.best_us),
                  optional_value(run.estimate_us),
                  optional_value(run.speedup),
                  run.bytes};
    row[kMark] = row_mark(mark, row);
    KW_TRY(
        database_.run("INSERT OR REPLACE INTO runs VALUES "
                      "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                      row));
    return Done{};
  }

  Status drop(const std::string& folder) {
    KW_TRY(database_.run("DELETE FROM runs WHERE folder = ?", {folder}));
    KW_TRY(database_.run("DELETE FROM notes WHERE folder = ?", {folder}));
    return Done{};
  }

  /// The mark, text and proof of a folder's note; empty when there is none.
  Result<SqlRow> note(const std::string& folder) {
    const auto rows =
        KW_TRY(database_.run("SELECT mark, text, proof FROM notes WHERE folder = ?", {folder}));
    return rows.empty() ? SqlRow{} : rows.front();
  }

  Status put_note(const SqlRow& row) {
    KW_TRY(database_.run("INSERT OR REPLACE INTO notes VALUES (?, ?, ?, ?)", row));
    return Done{};
  }

  /// Of each folder; "" where the row is not what was written.
  Result<std::map<std::string, std::string>> marks() {
    std::map<std::string, std::string> marks;
    for (const SqlRow& row : KW_TRY(database_.run("SELECT * FROM runs"))) {
      const std::string mark = text(row[kMark]), own = mark.substr(0, mark.rfind(' '));
      marks[text(row[0])] = mark == row_mark(own, row) ? own : "";
    }
    return marks;
  }

  /// Of each folder, with the hash of its row.
  Result<std::map<std::string, std::string>> whole_marks() {
    std::map<std::string, std::string> marks;
    for (const SqlRow& row : KW_TRY(database_.run("SELECT folder, mark FROM runs")))
      marks[text(row[0])] = text(row[1]);
    return marks;
  }

  Result<std::vector<RunRow>> rows(const std::string& root) {
    std::vector<RunRow> list;
    for (const SqlRow& row : KW_TRY(database_.run(
             "SELECT folder, name, created, status, proposer, target, reason, candidates, "
             "judged, passed, seconds, best_us, estimate_us, speedup, bytes FROM runs ORDER BY "
             "created, folder"))) {
      // Commands find a run by its folder's name, so a copied or renamed folder is listed by that
      // name.
      list.push_back({text(row[0]), root + "/" + text(row[0]), text(row[1]), text(row[2]),
                      text(row[3]), text(row[4]), text(row[5]), text(row[6]), integer(row[7]),
                      integer(row[8]), integer(row[9]), real(row[10]), maybe_real(row[11]),
                      maybe_real(row[12]), maybe_real(row[13]), integer(row[14])});
    }
    return list;
  }

 private:
  explicit Index(Database database) : database_(std::move(database)) {}

  Database database_;
};

std::string index_path(const std::string& root) { return root + "/" + kIndexName; }

void remove_index(const std::string& root) {
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
    static_cast<void>(os::real_disk().remove(index_path(root) + suffix));
  }
}

/// What lies in a root, by name: whether it is a folder itself, and not a link that may lead
/// elsewhere now. Hidden names are left out.
std::map<std::string, bool> entries_of(const std::string& root) {
  std::map<std::string, bool> entries;
  std::error_code failed;
  for (std::filesystem::directory_iterator at(root, failed), end; !failed && at != end;
       at.increment(failed)) {
    const std::string name = at->path().filename();
    std::error_code unknown;
    if (name[0] != '.')
      entries[name] = at->symlink_status(unknown).type() == std::filesystem::file_type::directory;
  }
  return entries;
}

Result<std::vector<RunRow>> refreshed(Index index, const std::string& root) {
  std::map<std::string, std::string> known = KW_TRY(index.marks());
  for (const auto& [name, is_folder] : entries_of(root)) {
    const std::string folder = root + "/" + name;
    const std::string mark =
        change_mark(folder);  // before reading: a change during reading is found next time
    const auto row = known.find(name);
    const bool fresh = row != known.end() && row->second == mark && is_folder;
    if (!fresh && !(os::inside(root, name) && is_run_folder(folder))) continue;
    if (row != known.end()) known.erase(row);
    if (!fresh) KW_TRY(index.put(name, mark, summarize(folder)));
  }
  for (const auto& [name, mark] : known) KW_TRY(index.drop(name));
  return index.rows(root);
}

Result<std::vector<RunRow>> list_with(const std::string& path, const std::string& root) {
  Index index = KW_TRY(Index::open(path));
  KW_TRY(index.check());
  return refreshed(std::move(index), root);
}

}  // namespace

Result<std::vector<RunRow>> list_runs(const std::string& root) {
  if (!os::is_directory(root)) return std::vector<RunRow>{};
  Result<std::vector<RunRow>> rows = list_with(index_path(root), root);
  if (!rows && rows.error().blame == Blame::Input) {
    remove_index(root);
    rows = list_with(index_path(root), root);
  }
  if (!rows) rows = list_with(Database::kNoFile, root);
  if (!rows) return rows;
  // A process can take or release a run without changing its files, so the lock is checked now.
  for (RunRow& row : *rows) {
    // A free lock is an empty file.
    const std::string lock = Layout{row.folder}.lock();
    if (os::file_size(lock) > 0 && os::lock_holder(lock)) row.status = "running";
  }
  return rows;
}

std::vector<std::string> index_faults(const std::string& root) {
  std::vector<std::string> found;
  if (!os::exists(index_path(root))) return found;
  Result<Index> index = Index::open(index_path(root));
  if (index) {
    if (const Status sound = index->check(); !sound) return {sound.error().message};
  }
  if (!index) return {index.error().message};
  const auto marks = index->marks();
  if (!marks) return {marks.error().message};
  // A second index, of the rows that these folders give now.
  Result<Index> fresh = Index::open(":memory:");
  if (!fresh) return {fresh.error().message};
  for (const auto& [name, mark] : *marks) {
    const std::string folder = root + "/" + name;
    if (mark.empty()) found.push_back(fmt::format("the row of {} was changed", printable(name)));
    if (mark.empty() || !os::exists(folder) || mark != change_mark(folder)) continue;
    static_cast<void>(fresh->put(name, mark, summarize(folder)));
  }
  const auto had = index->whole_marks(), have = fresh->whole_marks();
  if (!had || !have) return found;
  for (const auto& [name, mark] : *have) {
    if (had->at(name) != mark)
      found.push_back(fmt::format("the row of {} is not what its folder says", printable(name)));
  }
  return found;
}

Status rebuild_index(const std::string& root) {
  remove_index(root);
  KW_TRY(list_runs(root));
  return Done{};
}

std::string content_hash(std::string_view bytes) { return signing::digest(bytes); }

namespace {

/// The index beside a run, if there is one, and the run's name in it.
Result<std::pair<Index, std::string>> index_beside(const std::string& folder) {
  const std::filesystem::path path = std::filesystem::path(folder).lexically_normal();
  const std::string root = path.has_parent_path() ? path.parent_path().string() : ".";
  if (!os::exists(index_path(root))) return input_error("there is no index in {}", root);
  Index index = KW_TRY(Index::open(index_path(root)));
  return std::pair(std::move(index), path.filename().string());
}

std::string note_proof(const signing::Signer& signer, const SqlRow& row) {
  return signer.mark("note\n" + text(row[0]) + "\n" + text(row[1]) + "\n" + text(row[2]));
}

}  // namespace

std::optional<std::string> kept_note(const std::string& folder) {
  auto index = index_beside(folder);
  const auto signer = own_signer(signing::IfMissing::Fail);
  if (!index || !signer) return std::nullopt;
  const Result<SqlRow> found = index->first.note(index->second);
  if (!found || found->size() != 3 || text((*found)[0]) != change_mark(folder)) return std::nullopt;
  const SqlRow row = {index->second, (*found)[0], (*found)[1]};
  if (text((*found)[2]) != note_proof(*signer, row)) return std::nullopt;
  return text((*found)[1]);
}

void keep_note(const std::string& folder, const std::string& mark, const std::string& words) {
  auto index = index_beside(folder);
  const auto signer = own_signer(signing::IfMissing::Fail);
  if (!index || !signer) return;
  SqlRow row = {index->second, mark, words};
  row.emplace_back(note_proof(*signer, row));
  static_cast<void>(index->first.put_note(row));
}

void make_index(const std::string& root) { static_cast<void>(Index::open(index_path(root))); }

void update_index_of(const std::string& folder) {
  const std::filesystem::path path = std::filesystem::path(folder).lexically_normal();
  std::string root = path.parent_path();
  if (root.empty()) root = ".";
  if (!os::exists(index_path(root))) return;
  Result<Index> index = Index::open(index_path(root));
  if (!index) return;
  const std::string mark = change_mark(folder);
  static_cast<void>(index->put(path.filename(), mark, summarize(folder)));
}

}  // namespace kw::store
