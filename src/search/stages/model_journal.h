// Writes exchanges, texts by stage, attempts and calls into the run folder. Before the run has a
// folder, it keeps them in memory.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stages/model_session.h"
#include "stages/stage_ports.h"
#include "store/run.h"

namespace kw::stages {

class RunJournal : public Journal {
 public:
  /// `hidden` (a reference that must not be stored) is removed from stage texts and requests.
  /// The outcomes of exchanges are written unchanged.
  RunJournal(ModelSession& session, bool transcripts, std::string hidden = "")
      : session_(session), transcripts_(transcripts), hidden_(std::move(hidden)) {}

  /// Writes everything kept so far into this run, and all that follows.
  Status attach(store::Run& run);
  void hide(std::string text) { hidden_ = std::move(text); }

  Status keep(const record::Candidate& candidate) override;
  Status append(const std::string& kind, const Json& event) override;
  Status write(const std::string& path, const std::string& text) override;
  Status show(const std::string& folder, const std::string& candidate_id) override;
  Status exchange(const std::string& label, const llm::Request& request,
                  const llm::Outcome& outcome) override;

 private:
  using JournalWrite = std::function<Status(store::Run&)>;
  Status now_or_later(JournalWrite action);
  std::string shown(const std::string& text) const;

  ModelSession& session_;
  const bool transcripts_;
  std::string hidden_;
  store::Run* run_ = nullptr;
  std::vector<JournalWrite> waiting_;
  int exchanges_ = 0;
};

/// Attempts and calls of earlier sessions, from the events of the run.
std::vector<Attempt> past_attempts(const store::Run& run);
std::vector<llm::LedgerEntry> past_calls(const store::Run& run);

}  // namespace kw::stages
