// Plain English beside a reference, read by a table of phrases (docs/synthesize.md). No model: what
// a row knows is used, everything else is reported as not understood. A prompt never changes what
// is computed; the reference alone says that.
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
  std::string effect;  // what was done with it; filled in by those who use it
};

struct PromptReading {
  std::vector<Phrase> phrases;
  std::vector<std::string> unused;  // runs of words no row knows

  const Phrase* find(PhraseKind kind) const;
  Phrase* find(PhraseKind kind);
};

/// `known` are words the reference explains itself, like the parts of its name.
PromptReading read_prompt(const std::string& text, const std::vector<std::string>& known = {});

/// What a task says about a prompt's dtype, axis and weights: fills the effects in. Returns the
/// contradictions, for warnings.
std::vector<std::string> check_prompt(PromptReading& reading, const task::Task& task);

/// --input lines for a function whose inputs nobody described, from the prompt's dtype and the
/// names in the front end's message; empty when the prompt has no dtype or the message is another.
std::vector<std::string> inputs_from_prompt(PromptReading& reading, const std::string& message);

}  // namespace kw::reference
