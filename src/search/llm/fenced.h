// Tool calls for models and programs without tool support: written as fenced blocks of text, and
// parsed from the text of the answer.
#pragma once

#include <string>
#include <vector>

#include "llm/reply.h"
#include "llm/request.h"

namespace kw::llm {

/// The same conversation without tools. The system text describes the tools; earlier calls and
/// results become text.
Request without_tools(const Request& request);

/// Removes "```tool" blocks from the reply's text and turns them into calls. A block that is not
/// valid JSON becomes a call with its parse error.
void read_fenced_calls(const Request& request, Reply& reply);

/// `text` inside a fence longer than any run of backticks in it.
std::string fence(const std::string& word, const std::string& text);

}  // namespace kw::llm
