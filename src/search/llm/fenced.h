// Tool calls for models and programs that have none: written as fenced blocks of text, and read
// back from the text of the answer.
#pragma once

#include <string>
#include <vector>

#include "llm/reply.h"
#include "llm/request.h"

namespace kw::llm {

/// The same conversation without tools: they are described in the system text, calls and results of
/// earlier turns become text.
Request without_tools(const Request& request);

/// Takes "```tool" blocks out of a reply's text and makes calls of them. A block that is no JSON
/// becomes a call with its parse error.
void read_fenced_calls(const Request& request, Reply& reply);

/// `text` inside a fence longer than any run of backticks in it.
std::string fence(const std::string& word, const std::string& text);

}  // namespace kw::llm
