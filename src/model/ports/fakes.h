// A journal in memory. For tests only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ports/journal.h"

namespace kw::ports {

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
