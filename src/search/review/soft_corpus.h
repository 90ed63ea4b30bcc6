// Labelled modules for verifiers, by what the user names: the shipped ones, a file's, or those that
// past runs judged on this machine.
#pragma once

#include <string>

#include "base/result.h"
#include "soft/corpus.h"

namespace kw::engine {

/// Candidates of the runs under a root ("" = the user's) whose verdict is known and whose reference
/// was kept. What was left out is in the notes.
soft::Corpus store_corpus(const std::string& root);

/// "" = the shipped one, "store" = that and store_corpus(), else a file. Input Errors name it.
Result<soft::Corpus> open_corpus(const std::string& name, const std::string& root);

/// The same in the file's format, each entry whole.
std::string corpus_text(const soft::Corpus& corpus);

}  // namespace kw::engine
