// The command `tune-verifiers`: opens the corpus, the models and a folder that can be resumed.
// Results go to the folder at once, and better prompts to the folder that evolve reads.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "review/tune.h"
#include "stages/model_options.h"

namespace kw::review {

struct TuneVerifiersRequest {
  std::string corpus;            // "", "store" or a file
  std::string runs;              // root of past runs; "": the user's
  std::string verifier = "all";  // or one field
  std::string second_model;      // "": none
  std::string prompts;           // folder with the initial instructions; "": the shipped ones
  int64_t generations = 4, population = 3, sample = 32, in_flight = 4;
  uint64_t seed = 0;
  bool reflect = false;
  std::string out;      // a new folder; "": one in the user's data folder
  std::string resume;   // a folder to resume; its own settings are used
  bool install = true;  // also copy better prompts to tuned_prompts_folder()
  stages::ModelOptions models;
};

struct TuneVerifiersReport {
  std::string folder;
  std::vector<Tuned> tuned;
  std::vector<std::string> notes, warnings, installed;
  std::string cost;
  Json document;

  bool finished() const;
  /// The first field that did not finish; nullptr when all did.
  const Tuned* unfinished() const;
};

/// The folder for prompts that proved better.
std::string tuned_prompts_folder();
/// Reports progress and costs as text.
using TuneWatcher = std::function<void(const std::string& what, bool notice)>;

/// Errors: options, corpus, models that cannot be asked, the machine.
Result<TuneVerifiersReport> tune_verifiers(TuneVerifiersRequest request,
                                           const TuneWatcher& watcher = {});
/// Tables and text for people, for the terminal and report.md.
std::string tune_text(const TuneVerifiersReport& report);

}  // namespace kw::review
