#include "mcp/revision.h"

namespace kw::mcp {
namespace {

constexpr Revision kRevisions[] = {
    {"2024-11-05", true, false, false, false}, {"2025-03-26", true, true, false, false},
    {"2025-06-18", false, true, true, false},  {"2025-11-25", false, true, true, false},
    {"2026-07-28", false, true, true, true},
};

}  // namespace

std::span<const Revision> revisions() { return kRevisions; }

const Revision* find_revision(std::string_view name) {
  for (const Revision& revision : kRevisions) {
    if (name == revision.name) return &revision;
  }
  return nullptr;
}

const Revision& newest_handshake() {
  const Revision* newest = &kRevisions[0];
  for (const Revision& revision : kRevisions) {
    if (!revision.stateless) newest = &revision;
  }
  return *newest;
}

}  // namespace kw::mcp
