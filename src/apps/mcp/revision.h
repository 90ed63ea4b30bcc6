// The revisions of the Model Context Protocol that we support, and the features of each.
#pragma once

#include <span>
#include <string_view>

namespace kw::mcp {

struct Revision {
  const char* name;  // as clients write it: "2025-06-18"
  bool batches;      // several messages in one array
  bool annotations;  // hints on a tool, text with progress
  bool structured;   // titles, output schemas, structured results, links to resources
  bool stateless;    // every request names its revision; there is no handshake
};

/// Oldest first.
std::span<const Revision> revisions();
/// nullptr when we do not support it.
const Revision* find_revision(std::string_view name);
/// The answer to a handshake that asks for an unknown revision.
const Revision& newest_handshake();

}  // namespace kw::mcp
