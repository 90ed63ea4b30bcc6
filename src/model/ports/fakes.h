// A judge and a journal in memory. For tests only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ports/journal.h"
#include "ports/judge.h"

namespace kw::ports {

/// Calls every candidate right, without a time. A test overrides examined().
class FakeJudge : public Judge {
 public:
  bool clock = false;

  virtual Result<Outcome> examined(const record::Candidate&, Depth) { return Outcome(); }

  bool has_clock() const override { return clock; }
  Result<std::vector<Outcome>> examine(const Candidates& candidates, Depth depth) override {
    std::vector<Outcome> out;
    for (const record::Candidate& one : candidates) out.push_back(KW_TRY(examined(one, depth)));
    return out;
  }
  Result<std::vector<Outcome>> race(const Candidates& candidates, const RaceOptions&) override {
    return examine(candidates, Depth::Time);
  }
  Result<Outcome> certify(const record::Candidate& one) override {
    return examined(one, Depth::Time);
  }
};

/// `Base` is Journal or a port that extends it.
template <class Base>
class MemoryJournal : public Base {
 public:
  std::map<std::string, record::Candidate> kept;    // by id
  std::vector<std::string> lines;                   // events, as JSON
  std::map<std::string, std::string> files, shown;  // by path
  int64_t room = -1;                                // events until the disk is full; -1: no limit

  Status keep(const record::Candidate& one) override {
    kept.emplace(one.id, one);
    return Done{};
  }
  Status append(const std::string&, const Json& event) override {
    if (room == 0) return environment_error("cut");
    if (room > 0) --room;
    lines.push_back(event.dump());
    return Done{};
  }
  Status write(const std::string& path, const std::string& text) override {
    files[path] = text;
    return Done{};
  }
  Status show(const std::string& folder, const std::string& id) override {
    shown[folder] = id;
    return Done{};
  }
};

}  // namespace kw::ports
