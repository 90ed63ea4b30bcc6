// What a call of a tool gives: a job's document as text and as structure, or why there is none.
#pragma once

#include <string>

#include "core/json.h"
#include "mcp/jobs.h"

namespace kw::mcp {

/// A result of tools/call with this structure, and the same as text.
Json tool_result(Json structure, bool is_error = false);
/// A result that says why nothing was done.
Json tool_error(const std::string& why, const char* blame = "input");
/// What a job that has ended gave, or the state of one that has not.
Json job_result(const Glance& seen, bool full);
/// One job in a few members.
Json job_state(const Glance& seen);
/// The document without members of these names (tool.h: bulky); what was left out is said.
Json brief(const Json& document, const char* names);

}  // namespace kw::mcp
