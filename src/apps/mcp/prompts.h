// Prompts: texts with arguments that a user picks and a client fills in.
#pragma once

#include "core/json.h"
#include "mcp/rpc.h"

namespace kw::mcp {

/// Rows for prompts/list.
Json::Array prompt_rows(bool titles);
/// prompts/get: {description, messages}, or why not.
RpcReply get_prompt(const Json& params);

}  // namespace kw::mcp
