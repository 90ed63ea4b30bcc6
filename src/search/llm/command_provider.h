// Any local program as a model: the conversation on its standard input, the answer on its standard
// output. For headless coding agents, wrappers and tests. No tools, no streaming.
#pragma once

#include <string>
#include <vector>

#include "llm/provider.h"

namespace kw::llm {

/// Request::model is the command line: words, with quotes as a shell has them, but no shell.
///
/// The program gets one text (conversation_text). It answers with text, or with a JSON object whose
/// "text" (or "result") is the answer and whose "usage" may hold input_tokens and output_tokens. It
/// runs with our environment and must exit with 0.
class CommandProvider : public LlmProvider {
 public:
  std::string name() const override { return "command"; }
  Capabilities capabilities() const override { return {false, Caching::None, false, false}; }
  Outcome complete(const Request& request, const Watch& watch) override;
};

/// Words of a command line; 'a b', "a b" and a\ b are one word each.
Result<std::vector<std::string>> split_command(const std::string& line);
/// System text and all turns as one text with headings; a single turn without a system text stays
/// alone.
std::string conversation_text(const Request& request);

}  // namespace kw::llm
