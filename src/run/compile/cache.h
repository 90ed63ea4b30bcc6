// A Compiler with a cache on disk, shared by all processes with the same compiler and headers.
// Entries are checked when read; a damaged one is compiled again. Failures are not cached. If the
// folder cannot be written, or if other users can change it, it works without the cache and adds a
// note.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ports/compiler.h"

namespace kw::compile {

struct CacheOptions {
  std::string folder;     // entries are in sub-folders of it
  std::string salt = {};  // what else results depend on: compiler file, headers
  /// The full command for a request, so that other options make other entries.
  std::function<std::string(const ports::CompileRequest&)> command = {};
  uint64_t max_bytes = uint64_t{1} << 30;  // above this the oldest entries are removed
};

struct CacheStats {
  int hits = 0, misses = 0, damaged = 0;
};

class CachingCompiler : public ports::Compiler {
 public:
  CachingCompiler(std::unique_ptr<ports::Compiler> inner, CacheOptions options);

  std::string name() const override { return inner_->name(); }
  Result<ports::CompileOutcome> compile(const ports::CompileRequest& request) override;
  std::vector<std::string> notes() const override;
  CacheStats stats() const;

 private:
  struct Place {
    std::string name;  // of the entry, below the folder
    std::string key;   // everything that decides the result
  };
  Place place_of(const ports::CompileRequest& request) const;
  bool load(const Place& place, ports::CompileOutcome* outcome);
  void store(const Place& place, const ports::CompileOutcome& outcome);
  void make_room(uint64_t added);
  void give_up(const Error& error);
  bool is_usable() const;

  const std::unique_ptr<ports::Compiler> inner_;
  const CacheOptions options_;
  mutable std::mutex mutex_;
  CacheStats stats_;
  std::vector<std::string> notes_;
  bool usable_ = true;
  int64_t known_bytes_ = -1;  // estimated size of the folder; -1: not scanned yet
  int writes_ = 0;
};

}  // namespace kw::compile
