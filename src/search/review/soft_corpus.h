// Opens the corpus that the user names: the built-in one, a file, or the judged candidates of past
// runs on this machine.
#pragma once

#include <string>

#include "core/result.h"
#include "review/corpus.h"

namespace kw::review {

/// Candidates of the runs under `root` ("": the user's) with a known verdict and a stored
/// reference. The notes say what was left out.
Corpus store_corpus(const std::string& root);

/// "": the built-in corpus; "store": that and store_corpus(); otherwise a file. Input Errors name
/// it.
Result<Corpus> open_corpus(const std::string& name, const std::string& root);

/// The corpus in the file format; each entry is written in full.
std::string corpus_text(const Corpus& corpus);

}  // namespace kw::review
