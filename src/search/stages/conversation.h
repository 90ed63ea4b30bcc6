// The conversation with a model so far, and the next request. Long conversations are compacted by a
// fixed rule, and a note in the text tells the model what was left out.
#pragma once

#include <string>
#include <vector>

#include "llm/reply.h"
#include "llm/request.h"

namespace kw::stages {

struct ConversationLimits {
  size_t most_bytes = 200'000;  // of all turns together
  size_t keep_turns = 6;        // the last turns; compact() leaves them whole
  int64_t max_tokens = 16'384;  // of an answer
};

class Conversation {
 public:
  Conversation(std::vector<llm::SystemBlock> system, std::vector<llm::Tool> tools,
               ConversationLimits limits = {})
      : system_(std::move(system)), tools_(std::move(tools)), limits_(limits) {}

  /// Adds text to the user's next turn.
  void say(const std::string& text);
  void answer_calls(std::vector<llm::ToolResult> results);
  /// Adds the assistant's turn.
  void add_reply(const llm::Reply& reply);
  /// The whole conversation, compacted when it is too long. Texts are shortened until request and
  /// answer fit into `context_tokens`, as far as that is possible.
  llm::Request request(const std::string& label, int64_t context_tokens = 128'000);

  const std::vector<llm::Message>& messages() const { return messages_; }
  /// One line for each compaction.
  const std::vector<std::string>& compactions() const { return compactions_; }

 private:
  llm::Message& user_turn();
  size_t turn_bytes() const;
  size_t fixed_bytes() const;
  void compact();
  void fit(size_t room);

  std::vector<llm::SystemBlock> system_;
  std::vector<llm::Tool> tools_;
  ConversationLimits limits_;
  std::vector<llm::Message> messages_;
  std::vector<std::string> compactions_;
};

}  // namespace kw::stages
