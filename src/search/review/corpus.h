// Kernel modules whose verdict is known: what verifiers are measured on and tuned with. Labels are
// the judge's, never somebody's idea of what a change does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "record/verdict.h"
#include "review/panel.h"
#include "review/vote.h"

namespace kw::review {

struct Entry {
  std::string id;
  std::string task, reference;  // its name and its source
  std::string module;
  std::string kind;      // "design", "bug", "harmless", "defensive" or "store"
  std::string mutation;  // what was done to a right one; "" = nothing
  bool right = false;
  std::string stage;   // that a wrong one did not pass
  std::string reason;  // in the judge's words

  bool defensive() const { return kind == "defensive"; }
  Case question() const { return {reference, module}; }
};

/// Whether an entry is right in one field; nothing where an earlier fault hides that.
std::optional<bool> label(const Entry& entry, Field field);

struct Corpus {
  std::vector<Entry> entries;
  std::vector<std::string> notes;  // what was left out, and why
};

/// The file's format is in docs/verifiers.md. Errors name the line.
Result<Corpus> parse_corpus(std::string_view text, const std::string& file);
/// The corpus that comes with this program.
Corpus shipped_corpus();

/// Applies [first line, lines taken out, [lines put in]] in the order given.
Result<std::string> apply_edits(const std::string& text, const Json& edits);

/// Which entries are for what. Tasks are never shared, so that nothing is learnt by heart.
struct Split {
  std::vector<const Entry*> train;     // mistakes on these are shown to who writes prompts
  std::vector<const Entry*> guard;     // a better prompt must not be worse on these
  std::vector<const Entry*> held_out;  // only for the report
};

/// Tasks are dealt out by the seed: half, a quarter, a quarter; then `most` entries of each part
/// are drawn, half of them wrong as far as there are so many, and some of the right ones with
/// defensive code. The corpus must outlive it. The input Error says what the corpus lacks for this
/// field.
Result<Split> split_corpus(const Corpus& corpus, Field field, uint64_t seed, size_t most);

}  // namespace kw::review
