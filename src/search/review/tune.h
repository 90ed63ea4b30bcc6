// Evolves the instructions of one specialist. A model rewrites them after seeing their mistakes; a
// better version must also hold on the modules of other tasks. Every vote and rewriting is an
// event, so a killed session can be resumed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "review/review_session.h"

namespace kw::review {

struct TuneSettings {
  Field field = Field::Memory;
  llm::ModelId model;
  std::optional<llm::ModelId> second;  // only scores the result
  int generations = 4, population = 3;
  size_t sample = 32;  // modules in each part of the corpus
  uint64_t seed = 0;
  bool reflect = false;
  int in_flight = 4;
};
/// The settings that must be equal to resume a journal.
Json to_json(const TuneSettings& settings);

struct Prompt {
  std::string text, parent;  // id of the parent; "": this is the shipped prompt
  int generation = 0, number = 0;

  std::string id() const { return prompt_id(text); }
};

/// One rewriting and its result.
struct Rewriting {
  int generation = 0, number = 0;
  std::string prompt;  // id; "": the answer had no instructions
  std::string outcome;
  std::optional<Confusion> train, guard;
};

struct Tuned {
  Field field = Field::Memory;
  Prompt shipped, best;
  bool better = false;                  // best differs from the shipped prompt
  bool finished = false;                // all generations are done and all scores exist
  std::string stopped;                  // why it ended, as text
  std::optional<llm::Failure> failure;  // the failure of a model that ended it
  std::vector<Rewriting> rewritings;
  std::vector<MetricRow> rows;  // scores of the shipped prompt and of the best one
  std::vector<std::string> notes;
  size_t votes = 0;
  double usd = 0;  // votes and rewritings of all sessions, as far as known
};
Json to_json(const Tuned& tuned);

/// `past` has the events of earlier sessions with the same settings. Errors: the corpus cannot be
/// split, or the machine.
Result<Tuned> tune(const Corpus& corpus, const TuneSettings& settings, const std::string& shipped,
                   const std::vector<Json>& past, const ReviewPorts& ports);

}  // namespace kw::review
