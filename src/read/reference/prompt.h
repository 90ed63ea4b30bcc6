// Reads plain English beside a reference with a table of phrases (docs/synthesize.md). No model is
// used: known phrases take effect, and all other words are reported as not understood. A prompt
// never changes what is computed; only the reference does.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "task/task.h"

namespace kw::reference {

enum class PhraseKind : uint8_t { DType, Axis, Weight, Priority, Arch, Precision, Shape, Name };
/// "dtype", "axis", …
const char* phrase_kind_name(PhraseKind kind);

struct Phrase {
  PhraseKind kind = PhraseKind::DType;
  std::string text;    // as written
  std::string value;   // "fp16", "-1", "yes", "latency", "sm_90", "tf32", "4096x1024"
  std::string effect;  // how it was used; the user of the phrase fills it in
};

struct PromptReading {
  std::vector<Phrase> phrases;
  std::vector<std::string> unused;  // runs of words that no row knows

  const Phrase* find(PhraseKind kind) const;
  Phrase* find(PhraseKind kind);
};

/// `known` are words that the reference explains itself, such as the parts of its name.
PromptReading read_prompt(const std::string& text, const std::vector<std::string>& known = {});

/// Compares a prompt's dtype, axis and weights with the task and fills in their effects. Returns
/// the contradictions, for warnings.
std::vector<std::string> check_prompt(PromptReading& reading, const task::Task& task);

/// --input lines for a function without descriptions of its inputs, from the prompt's dtype and the
/// names in the front end's message. Empty if the prompt has no dtype or the message is a different
/// one.
std::vector<std::string> inputs_from_prompt(PromptReading& reading, const std::string& message);

}  // namespace kw::reference
