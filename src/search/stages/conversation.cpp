// The problem: a conversation with tools grows with every turn, and models have a limited context.
// Two rules shorten it. Over most_bytes, old turns keep only their first 600 bytes; the first turn
// and the last keep_turns stay whole. If the request still does not fit, the other turns are
// shortened too. Last, the current turn and the first one lose their middle. Each cut leaves a note
// with the number of bytes. A summary by a model would keep more facts, but costs a call and can be
// wrong. The cost: compaction changes old turns and so loses the provider's cache; therefore it
// halves the size at once.
#include "stages/conversation.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/text.h"

namespace kw::stages {
namespace {

constexpr size_t kKeptText = 600;      // of a long text that is compacted
constexpr int64_t kBytesPerToken = 3;  // of source text, a low estimate

size_t bytes_of(const llm::Message& message) {
  size_t bytes = message.text.size();
  for (const llm::ToolCall& call : message.calls) bytes += call.arguments.size();
  for (const llm::ToolResult& result : message.results) bytes += result.content.size();
  return bytes;
}

/// Keeps the beginning, and states the number of bytes left out.
bool shrink(std::string& text) {
  if (text.size() <= 2 * kKeptText) return false;
  size_t end = text.rfind('\n', kKeptText);
  if (end == std::string::npos) end = kKeptText;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text = fmt::format("{}\n[{} more bytes were here; they were left out to save room]",
                     text.substr(0, end), text.size() - end);
  return true;
}

bool shrink(llm::ToolCall& call) {
  if (call.arguments.size() <= 2 * kKeptText) return false;
  Json left = Json::object();
  for (const auto& [name, value] : call.parsed.members()) {
    const std::string& text = value.as_string();
    left.set(name, text.size() <= kKeptText
                       ? value
                       : Json(fmt::format("[{} bytes left out to save room]", text.size())));
  }
  call = llm::make_tool_call(call.id, call.name, left.dump());
  return true;
}

bool shrink(llm::Message& message) {
  bool changed = shrink(message.text);
  for (llm::ToolCall& call : message.calls) changed |= shrink(call);
  for (llm::ToolResult& result : message.results) changed |= shrink(result.content);
  if (changed) message.opaque = {};  // it is signed for the old content
  return changed;
}

/// Keeps beginning and end of a text, with the number of omitted bytes between them.
bool cut_middle(std::string& text, size_t most) {
  most = std::max(most, 2 * kKeptText);
  if (text.size() <= most) return false;
  const auto begins = [&](size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xC0) != 0x80;
  };
  size_t head = most / 2, tail = text.size() - most / 2;
  while (head > 0 && !begins(head)) --head;
  while (tail < text.size() && !begins(tail)) ++tail;
  text =
      fmt::format("{}\n[{} bytes left out here: the request would not fit the model's context]\n{}",
                  text.substr(0, head), tail - head, text.substr(tail));
  return true;
}

bool cut_middle(llm::Message& message, size_t most) {
  const size_t parts = message.results.size() + (message.text.empty() ? 0 : 1);
  bool changed = cut_middle(message.text, most / std::max<size_t>(parts, 1));
  for (llm::ToolResult& result : message.results)
    changed |= cut_middle(result.content, most / std::max<size_t>(parts, 1));
  for (llm::ToolCall& call : message.calls) changed |= shrink(call);
  if (changed) message.opaque = {};
  return changed;
}

}  // namespace

size_t Conversation::turn_bytes() const {
  size_t bytes = 0;
  for (const llm::Message& message : messages_) bytes += bytes_of(message);
  return bytes;
}

size_t Conversation::fixed_bytes() const {
  size_t bytes = 0;
  for (const llm::SystemBlock& block : system_) bytes += block.text.size();
  for (const llm::Tool& tool : tools_) bytes += tool.description.size() + tool.schema.dump().size();
  return bytes;
}

llm::Message& Conversation::user_turn() {
  if (messages_.empty() || messages_.back().role != llm::MessageRole::User)
    messages_.push_back(llm::user_message(""));
  return messages_.back();
}

void Conversation::say(const std::string& text) {
  llm::Message& turn = user_turn();
  turn.text += (turn.text.empty() ? "" : "\n\n") + text;
}

void Conversation::answer_calls(std::vector<llm::ToolResult> results) {
  llm::Message& turn = user_turn();
  for (llm::ToolResult& result : results) turn.results.push_back(std::move(result));
}

void Conversation::add_reply(const llm::Reply& reply) {
  llm::Message turn = llm::assistant_message(reply);
  // Providers reject an empty turn.
  if (trim(turn.text).empty() && turn.calls.empty()) turn.text = "(no answer)";
  messages_.push_back(std::move(turn));
}

void Conversation::compact() {
  const size_t before = turn_bytes();
  if (before <= limits_.most_bytes) return;
  size_t turns = 0;
  // The first turn holds the task, and the last ones the current discussion: both stay.
  for (size_t i = 1; i + limits_.keep_turns < messages_.size(); ++i) {
    if (turn_bytes() <= limits_.most_bytes / 2)
      break;  // halve it at once: every change loses the cache
    turns += shrink(messages_[i]);
  }
  if (turns == 0) return;
  compactions_.push_back(
      fmt::format("{} older turns compacted: {} bytes to {}", turns, before, turn_bytes()));
}

// Shortens even the last turns, the oldest first. The turn to be answered and the first turn come
// last.
void Conversation::fit(size_t room) {
  const size_t before = turn_bytes();
  if (before <= room) return;
  const size_t count = messages_.size();
  for (size_t i = 1; i + 1 < count && turn_bytes() > room; ++i) shrink(messages_[i]);
  for (const size_t i : {count - 1, size_t{0}}) {
    const size_t others = turn_bytes() - bytes_of(messages_[i]);
    if (turn_bytes() > room) cut_middle(messages_[i], room > others ? room - others : 0);
  }
  compactions_.push_back(fmt::format("turns shortened to fit the model's context: {} bytes to {}",
                                     before, turn_bytes()));
}

llm::Request Conversation::request(const std::string& label, int64_t context_tokens) {
  compact();
  const int64_t answer = std::min(limits_.max_tokens, context_tokens / 4);
  const auto room = static_cast<size_t>(kBytesPerToken * (context_tokens - answer));
  if (!messages_.empty()) fit(room > fixed_bytes() ? room - fixed_bytes() : 0);
  llm::Request request;
  request.system = system_;
  request.tools = tools_;
  request.messages = messages_;
  if (!request.messages.empty()) request.messages.back().cache = llm::Cache::Mark;
  request.max_tokens = answer;
  request.label = label;
  return request;
}

}  // namespace kw::stages
