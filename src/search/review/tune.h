// Evolution of one specialist's instructions: a model rewrites them after seeing mistakes made with
// them, and what does better on the modules of some tasks must prove itself on those of others.
// Every vote and every rewriting is an event, so that a session that was killed is taken up again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "review/ballot.h"

namespace kw::review {

struct TuneSettings {
  Field field = Field::Memory;
  llm::ModelId model;
  std::optional<llm::ModelId> second;  // scores the result, and has no part in it
  int generations = 4, population = 3;
  size_t sample = 32;  // modules of each part of the corpus
  uint64_t seed = 0;
  bool reflect = false;
  int in_flight = 4;
};
/// What must stay the same for a journal to be taken up again.
Json to_json(const TuneSettings& settings);

struct Prompt {
  std::string text, parent;  // the parent's id; "" = shipped
  int generation = 0, number = 0;

  std::string id() const { return prompt_id(text); }
};

/// One rewriting, and what became of it.
struct Rewriting {
  int generation = 0, number = 0;
  std::string prompt;  // its id; "" when the answer held none
  std::string outcome;
  std::optional<Confusion> train, guard;
};

struct Tuned {
  Field field = Field::Memory;
  Prompt shipped, best;
  bool better = false;                  // best is another than the shipped one
  bool finished = false;                // all generations were bred and all scores are there
  std::string stopped;                  // why it ended, in words
  std::optional<llm::Failure> failure;  // of a model, that ended it
  std::vector<Rewriting> rewritings;
  std::vector<MetricRow> rows;  // scores, the shipped prompt's and the best one's
  std::vector<std::string> notes;
  size_t votes = 0;
  double usd = 0;  // of votes and rewritings in all sessions, as far as known
};
Json to_json(const Tuned& tuned);

/// `past` are the events of earlier sessions with the same settings. Errors: the corpus cannot be
/// split, or the machine.
Result<Tuned> tune(const Corpus& corpus, const TuneSettings& settings, const std::string& shipped,
                   const std::vector<Json>& past, const BallotPorts& ports);

}  // namespace kw::review
