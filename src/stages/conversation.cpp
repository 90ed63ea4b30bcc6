#include "stages/conversation.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"

namespace kw::stages {
namespace {

constexpr size_t kKeptText = 600;  // of a long text that is compacted

size_t bytes_of(const llm::Message& message) {
  size_t bytes = message.text.size();
  for (const llm::ToolCall& call : message.calls) bytes += call.arguments.size();
  for (const llm::ToolResult& result : message.results) bytes += result.content.size();
  return bytes;
}

/// The beginning says what it was; the rest is counted.
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
  if (changed) message.opaque = {};  // it vouches for what was there before
  return changed;
}

}  // namespace

llm::Message& Conversation::user_turn() {
  if (messages_.empty() || messages_.back().role != llm::Role::User)
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

void Conversation::hear(const llm::Reply& reply) {
  llm::Message turn = llm::assistant_message(reply);
  // No provider takes a turn in which nothing is said.
  if (trim(turn.text).empty() && turn.calls.empty()) turn.text = "(no answer)";
  messages_.push_back(std::move(turn));
}

void Conversation::compact() {
  const auto total = [&] {
    size_t bytes = 0;
    for (const llm::Message& message : messages_) bytes += bytes_of(message);
    return bytes;
  };
  const size_t before = total();
  if (before <= limits_.most_bytes) return;
  size_t turns = 0;
  // The first turn is the task of the stage and stays; the last ones are what is being discussed.
  for (size_t i = 1; i + limits_.keep_turns < messages_.size(); ++i) {
    if (total() <= limits_.most_bytes / 2) break;  // once, thoroughly: every change costs the cache
    turns += shrink(messages_[i]);
  }
  if (turns == 0) return;
  compactions_.push_back(
      fmt::format("{} older turns compacted: {} bytes to {}", turns, before, total()));
}

llm::Request Conversation::request(const std::string& label) {
  compact();
  llm::Request request;
  request.system = system_;
  request.tools = tools_;
  request.messages = messages_;
  if (!request.messages.empty()) request.messages.back().cache = llm::Cache::Mark;
  request.max_tokens = limits_.max_tokens;
  request.label = label;
  return request;
}

}  // namespace kw::stages
