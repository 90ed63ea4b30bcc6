// Records exchanges with models on disk and replays them, without a network or keys. One line of
// JSON per exchange. A request that was not recorded is an error with the first difference, never a
// call.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "llm/provider.h"
#include "os/disk.h"

namespace kw::llm {

class CassetteWriter {
 public:
  /// Appends to `path`. The first exchange replaces the file.
  CassetteWriter(os::Disk& disk, std::string path) : disk_(disk), path_(std::move(path)) {}
  Status add(const std::string& provider, const Request& request, const Outcome& outcome);

 private:
  os::Disk& disk_;
  const std::string path_;
  std::mutex mutex_;
  bool begun_ = false;
};

/// Records each exchange of `inner`. If an exchange cannot be written, it fails as Unavailable, so
/// that no recording is silently incomplete.
class Recording : public ProviderDecorator {
 public:
  Recording(LlmProvider& inner, CassetteWriter& writer)
      : ProviderDecorator(inner), writer_(writer) {}
  Outcome complete(const Request& request, const Watch& watch) override;

 private:
  CassetteWriter& writer_;
};

class Cassette {
 public:
  static Result<Cassette> load(const std::string& path);
  Cassette(Cassette&& other) noexcept
      : path_(std::move(other.path_)), entries_(std::move(other.entries_)) {}

  /// The first unused exchange with exactly this request. Otherwise Unavailable, with the first
  /// difference from the next unused exchange.
  Outcome play(const std::string& provider, const Request& request);
  size_t left();

 private:
  Cassette() = default;
  struct Entry {
    std::string provider;
    Json request;
    std::string request_text;
    Outcome outcome;
    bool used = false;
  };
  std::string path_;
  std::vector<Entry> entries_;
  std::mutex mutex_;
};

class Replaying : public LlmProvider {
 public:
  Replaying(std::string name, Capabilities capabilities, Cassette& cassette)
      : name_(std::move(name)), capabilities_(capabilities), cassette_(cassette) {}
  std::string name() const override { return name_; }
  Capabilities capabilities() const override { return capabilities_; }
  Outcome complete(const Request& request, const Watch& watch) override;

 private:
  const std::string name_;
  const Capabilities capabilities_;
  Cassette& cassette_;
};

}  // namespace kw::llm
