// Labelled modules for verifiers, by what the user names: the shipped ones, a file's, or those that
// past runs judged on this machine.
#pragma once

#include <string>

#include "core/result.h"
#include "review/corpus.h"

namespace kw::review {

/// Candidates of the runs under a root ("" = the user's) whose verdict is known and whose reference
/// was kept. What was left out is in the notes.
Corpus store_corpus(const std::string& root);

/// "" = the shipped one, "store" = that and store_corpus(), else a file. Input Errors name it.
Result<Corpus> open_corpus(const std::string& name, const std::string& root);

/// The same in the file's format, each entry whole.
std::string corpus_text(const Corpus& corpus);

}  // namespace kw::review
