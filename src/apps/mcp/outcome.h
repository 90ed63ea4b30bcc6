// Makes the result of a tool call: a job's document as text and as structure, or why there is none.
#pragma once

#include <string>

#include "core/json.h"
#include "mcp/jobs.h"

namespace kw::mcp {

/// A result of tools/call with this structure, and the same as text.
Json tool_result(Json structure, bool is_error = false);
/// A result that says why the call was refused.
Json tool_error(const std::string& why, const char* blame = "input");
/// The result of a job that has ended, or the state of one that has not.
Json job_result(const JobSnapshot& seen, bool full);
/// One job in a few members.
Json job_state(const JobSnapshot& seen);
/// The document without members of these names (tool.h: bulky); it says what was left out.
Json brief(const Json& document, const char* names);

}  // namespace kw::mcp
