#include "store/database.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sqlite3.h>

#include "os/own_files.h"
#include "os/spawn.h"

namespace kw::store {

namespace {

constexpr int kBusyMilliseconds = 2000;

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

int bind(sqlite3_stmt* statement, int at, const SqlValue& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) {
    return sqlite3_bind_int64(statement, at, *number);
  }
  if (const auto* number = std::get_if<double>(&value)) {
    return sqlite3_bind_double(statement, at, *number);
  }
  if (const auto* words = std::get_if<std::string>(&value)) {
    return sqlite3_bind_text64(statement, at, words->data(), words->size(), SQLITE_TRANSIENT,
                               SQLITE_UTF8);
  }
  return sqlite3_bind_null(statement, at);
}

SqlValue column(sqlite3_stmt* statement, int at) {
  switch (sqlite3_column_type(statement, at)) {
    case SQLITE_NULL:
      return std::monostate{};
    case SQLITE_INTEGER:
      return int64_t{sqlite3_column_int64(statement, at)};
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement, at);
    default:
      break;
  }
  const void* bytes = sqlite3_column_blob(statement, at);
  const auto size = static_cast<size_t>(sqlite3_column_bytes(statement, at));
  return bytes == nullptr ? std::string() : std::string(static_cast<const char*>(bytes), size);
}

}  // namespace

int64_t integer(const SqlValue& value) {
  const auto* number = std::get_if<int64_t>(&value);
  return number == nullptr ? 0 : *number;
}

double real(const SqlValue& value) { return maybe_real(value).value_or(0); }

std::string text(const SqlValue& value) {
  const auto* words = std::get_if<std::string>(&value);
  return words == nullptr ? "" : *words;
}

std::optional<double> maybe_real(const SqlValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* number = std::get_if<int64_t>(&value)) return static_cast<double>(*number);
  return std::nullopt;
}

void Database::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

Result<Database> Database::open(const std::string& path) {
  sqlite3* handle = nullptr;
  // SQLite would let other users read it; its log files take the mode of this one. An existing file
  // is not opened: closing it would drop the locks that SQLite holds on it.
  if (path != kNoFile)
    os::UniqueFd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, os::kOwnFileMode));
  const int code =
      sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  Database database(handle);
  if (code != SQLITE_OK) return database.failure("opening " + path);
  sqlite3_busy_timeout(handle, kBusyMilliseconds);
  KW_TRY(database.run("PRAGMA journal_mode = WAL"));
  // What the index loses in a power cut is read again from the folders, so no write waits for the
  // disk.
  KW_TRY(database.run("PRAGMA synchronous = OFF"));
  return database;
}

Result<std::vector<SqlRow>> Database::run(const std::string& sql, const SqlRow& parameters) {
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v2(handle_.get(), sql.c_str(), -1, &raw, nullptr) != SQLITE_OK) {
    return failure(sql);
  }
  const Statement statement(raw);
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (bind(raw, static_cast<int>(i) + 1, parameters[i]) != SQLITE_OK) return failure(sql);
  }
  std::vector<SqlRow> rows;
  for (;;) {
    const int code = sqlite3_step(raw);
    if (code == SQLITE_DONE) return rows;
    if (code != SQLITE_ROW) return failure(sql);
    SqlRow row;
    for (int i = 0; i < sqlite3_column_count(raw); ++i) row.push_back(column(raw, i));
    rows.push_back(std::move(row));
  }
}

Status Database::check() {
  const std::vector<SqlRow> rows = KW_TRY(run("PRAGMA quick_check(1)"));
  if (rows.size() == 1 && text(rows[0][0]) == "ok") return Done{};
  return input_error("index: it is damaged");
}

Error Database::failure(const std::string& sql) const {
  const char* why = handle_ ? sqlite3_errmsg(handle_.get()) : "out of memory";
  const std::string message = fmt::format("index: {}: {}", sql, why);
  const int code = handle_ ? sqlite3_errcode(handle_.get()) & 0xff : SQLITE_NOMEM;
  const bool content = code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_ERROR;
  return content ? input_error(message) : environment_error(message);
}

}  // namespace kw::store
