// A local program as a model: it reads the conversation from standard input and writes the answer
// to standard output. For coding agents, wrappers and tests. No tools, no streaming.
#pragma once

#include <string>
#include <vector>

#include "llm/provider.h"

namespace kw::llm {

/// Request::model is the command line: words with the quotes of a shell, but run without a shell.
///
/// The program reads one text (conversation_text). It answers with text, or with a JSON object:
/// "text" (or "result") is the answer, and "usage" may have input_tokens and output_tokens. The
/// program gets our environment and must exit with 0.
class CommandProvider : public LlmProvider {
 public:
  std::string name() const override { return "command"; }
  Capabilities capabilities() const override { return {false, Caching::None, false, false}; }
  Outcome complete(const Request& request, const Watch& watch) override;
};

/// The words of a command line; 'a b', "a b" and a\ b are one word each.
Result<std::vector<std::string>> split_command(const std::string& line);
/// System text and all turns as one text with headings. A single turn without a system text gets no
/// heading.
std::string conversation_text(const Request& request);

}  // namespace kw::llm
