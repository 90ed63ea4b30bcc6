// A small wrapper of SQLite for the index. Internal to store; only database.cpp includes sqlite3.h.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/result.h"

struct sqlite3;

namespace kw::store {

using SqlValue = std::variant<std::monostate, int64_t, double, std::string>;
using SqlRow = std::vector<SqlValue>;

int64_t integer(const SqlValue& value);
double real(const SqlValue& value);
std::string text(const SqlValue& value);
std::optional<double> maybe_real(const SqlValue& value);

/// Errors: Blame::Input when the file is not an index of ours, otherwise Blame::Environment (busy,
/// full, not writable).
class Database {
 public:
  static constexpr const char* kNoFile = ":memory:";

  /// Opens or creates a file (kNoFile: only memory), in WAL mode if the file system supports it.
  static Result<Database> open(const std::string& path);

  /// Runs one statement with its parameters bound in order. Returns its rows.
  Result<std::vector<SqlRow>> run(const std::string& sql, const SqlRow& parameters = {});
  /// Checks the whole file; Blame::Input when part of it is damaged.
  Status check();

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  explicit Database(sqlite3* handle) : handle_(handle) {}
  Error failure(const std::string& sql) const;
  std::unique_ptr<sqlite3, Close> handle_;
};

}  // namespace kw::store
