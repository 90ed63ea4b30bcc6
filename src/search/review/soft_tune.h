// The story of `tune-verifiers`: corpus, models and a folder that is taken up again; what is found
// goes to the folder at once, and better prompts to where evolve finds them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "review/tune.h"
#include "stages/model_options.h"

namespace kw::review {

struct TuneVerifiersRequest {
  std::string corpus;            // "", "store" or a file
  std::string runs;              // root of past runs; "" = the user's
  std::string verifier = "all";  // or one field
  std::string second_model;      // "" = none
  std::string prompts;           // folder of the instructions to begin with; "" = the shipped ones
  int64_t generations = 4, population = 3, sample = 32, in_flight = 4;
  uint64_t seed = 0;
  bool reflect = false;
  std::string out;      // a new folder; "" = one in the user's data folder
  std::string resume;   // a folder to go on in; what it was begun with is not asked again
  bool install = true;  // better prompts also go to tuned_prompts_folder()
  stages::ModelOptions models;
};

struct TuneVerifiersReport {
  std::string folder;
  std::vector<Tuned> tuned;
  std::vector<std::string> notes, warnings, installed;
  std::string cost;
  Json document;

  bool finished() const;
  /// Why it did not finish; nullptr when it did.
  const Tuned* unfinished() const;
};

/// Where prompts that proved better go.
std::string tuned_prompts_folder();
/// How far it is, and what it may cost, in words.
using TuneWatcher = std::function<void(const std::string& what, bool notice)>;

/// Errors: options, corpus, models that cannot be asked at all, the machine.
Result<TuneVerifiersReport> tune_verifiers(TuneVerifiersRequest request,
                                           const TuneWatcher& watcher = {});
/// Tables and words for people, the same for terminal and report.md.
std::string tune_text(const TuneVerifiersReport& report);

}  // namespace kw::review
