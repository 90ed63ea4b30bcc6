#include "stages/model_journal.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/text.h"
#include "llm/message_json.h"

namespace kw::stages {
namespace {

constexpr const char* kCallEvent = "llm_call";
constexpr const char* kReservedEvent = "llm_reserved";  // the same row, before the call is sent

}  // namespace

std::vector<Attempt> past_attempts(const store::Run& run) {
  std::vector<Attempt> attempts;
  for (const record::Event& event : run.events()) {
    if (event.kind == kAttemptEvent) attempts.push_back(attempt_from_json(event.data));
  }
  return attempts;
}

std::vector<llm::LedgerEntry> past_calls(const store::Run& run) {
  std::vector<llm::LedgerEntry> calls;
  for (const record::Event& event : run.events()) {
    if (event.kind == kCallEvent || event.kind == kReservedEvent)
      calls.push_back(llm::ledger_entry_from_json(event.data));
  }
  return llm::settled(calls);
}

Status RunJournal::attach(store::Run& run) {
  run_ = &run;
  session_.write_ahead([&run](const llm::LedgerEntry& row) {
    return run.append_synced(kReservedEvent, llm::to_json(row));
  });
  exchanges_ += static_cast<int>(past_calls(run).size());
  const std::vector<JournalWrite> actions = std::exchange(waiting_, {});
  for (const JournalWrite& action : actions) KW_TRY(action(run));
  return Done{};
}

Status RunJournal::now_or_later(JournalWrite action) {
  if (run_ != nullptr) return action(*run_);
  waiting_.push_back(std::move(action));
  return Done{};
}

std::string RunJournal::shown(const std::string& text) const {
  if (hidden_.empty()) return text;
  return replace_all(text, std::string(trim(hidden_)), "[the reference is not stored]");
}

Status RunJournal::write(const std::string& path, const std::string& text) {
  if (!transcripts_) return Done{};
  return now_or_later(
      [path, kept = shown(text)](store::Run& run) { return run.write(path, kept); });
}

Status RunJournal::show(const std::string& folder, const std::string& candidate_id) {
  return now_or_later(
      [folder, candidate_id](store::Run& run) { return run.show(folder, candidate_id); });
}

Status RunJournal::keep(const record::Candidate& candidate) {
  return now_or_later([candidate](store::Run& run) { return run.keep(candidate); });
}

Status RunJournal::append(const std::string& kind, const Json& event) {
  return now_or_later([kind, event](store::Run& run) { return run.append(kind, event); });
}

Status RunJournal::exchange(const std::string& label, const llm::Request& request,
                            const llm::Outcome& outcome) {
  // Costs are recorded first, so that they are kept even if a later write fails.
  for (const llm::LedgerEntry& row : session_.fresh_rows())
    KW_TRY(append(kCallEvent, llm::to_json(row)));
  if (!transcripts_) return Done{};
  llm::Request kept = request;
  for (llm::SystemBlock& block : kept.system) block.text = shown(block.text);
  for (llm::Message& message : kept.messages) {
    message.text = shown(message.text);
    for (llm::ToolResult& result : message.results) result.content = shown(result.content);
  }
  Json json = Json::object();
  json.set("label", label).set("request", llm::to_json(kept)).set("outcome", llm::to_json(outcome));
  const std::string path =
      fmt::format("llm/{:04}-{}.json", ++exchanges_, replace_all(label, " ", "-"));
  return now_or_later(
      [path, text = json.dump(true) + "\n"](store::Run& run) { return run.write(path, text); });
}

}  // namespace kw::stages
