// The revisions of the Model Context Protocol that are spoken here, and what each of them knows.
#pragma once

#include <span>
#include <string_view>

namespace kw::mcp {

struct Revision {
  const char* name;  // as clients write it: "2025-06-18"
  bool batches;      // several messages in one array
  bool annotations;  // hints beside a tool, words beside progress
  bool structured;   // titles, output schemas, structured results, links to resources
  bool stateless;    // every request says its revision itself; there is no handshake
};

/// Oldest first.
std::span<const Revision> revisions();
/// nullptr when it is not spoken here.
const Revision* find_revision(std::string_view name);
/// What a handshake that asks for something unknown is answered with.
const Revision& newest_handshake();

}  // namespace kw::mcp
