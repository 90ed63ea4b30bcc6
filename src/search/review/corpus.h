// Kernel modules with known verdicts, to measure and tune reviewers. Labels come from the judge,
// never from an expectation of what a change does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "record/verdict.h"
#include "review/reviewers.h"
#include "review/vote.h"

namespace kw::review {

struct CorpusEntry {
  std::string id;
  std::string task, reference;  // name and source
  std::string module;
  std::string kind;      // "design", "bug", "harmless", "defensive" or "store"
  std::string mutation;  // the change made to a right module; "": none
  bool right = false;
  std::string stage;   // the stage that a wrong module failed
  std::string reason;  // in the judge's words

  bool defensive() const { return kind == "defensive"; }
  Case question() const { return {reference, module}; }
};

/// Whether an entry is right in one field; not set when an earlier fault hides that.
std::optional<bool> label(const CorpusEntry& entry, Field field);

struct Corpus {
  std::vector<CorpusEntry> entries;
  std::vector<std::string> notes;  // what was left out, and why
};

/// docs/verifiers.md describes the file format. Errors name the line.
Result<Corpus> parse_corpus(std::string_view text, const std::string& file);
/// The corpus that is built into this program.
Corpus shipped_corpus();

/// Applies edits in order; each is [first line, number of lines removed, [lines inserted]].
Result<std::string> apply_edits(const std::string& text, const Json& edits);

/// The parts of a corpus. They share no task, so that reviewers cannot memorise answers.
struct Split {
  std::vector<const CorpusEntry*> train;     // the rewriting model sees mistakes on these
  std::vector<const CorpusEntry*> guard;     // a better prompt must not be worse on these
  std::vector<const CorpusEntry*> held_out;  // for the report and the choice to install
};

/// The seed assigns tasks to the parts: a half, a quarter, a quarter. Then up to `most` entries of
/// each part are drawn: half of them wrong if possible, and some right ones with defensive code.
/// The corpus must outlive the result. The input Error says what the corpus lacks for this field.
Result<Split> split_corpus(const Corpus& corpus, Field field, uint64_t seed, size_t most);

}  // namespace kw::review
