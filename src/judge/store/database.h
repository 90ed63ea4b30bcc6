// SQLite, as much of it as the index needs. Internal to store; the library's header is in
// database.cpp alone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/result.h"

struct sqlite3;

namespace kw::store {

using Value = std::variant<std::monostate, int64_t, double, std::string>;
using Row = std::vector<Value>;

int64_t integer(const Value& value);
double real(const Value& value);
std::string text(const Value& value);
std::optional<double> maybe_real(const Value& value);

/// Errors: Blame::Input when the file is not what we wrote, else Blame::Environment (busy, full,
/// not to be written).
class Database {
 public:
  /// Opens or creates a file (":memory:" for none), in WAL mode where the file system can.
  static Result<Database> open(const std::string& path);

  /// Runs one statement with its parameters bound in order; its rows.
  Result<std::vector<Row>> run(const std::string& sql, const Row& parameters = {});
  /// Looks at the whole file; Blame::Input when something in it is damaged.
  Status check();
  /// Everything `work` does, or nothing when it fails.
  Status transaction(const std::function<Status()>& work);

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  explicit Database(sqlite3* handle) : handle_(handle) {}
  Error failure(const std::string& sql) const;
  std::unique_ptr<sqlite3, Close> handle_;
};

}  // namespace kw::store
