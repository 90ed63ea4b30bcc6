// The problem: users describe kernels in a sentence, and a guess at its meaning must not change the
// result. The choice: a table of phrases, the longest match first; each row sets one known
// property. Words that no row knows are reported back as unused. The alternative, a language model,
// could be wrong without notice and needs a provider. The cost: only English phrases in the table
// are understood.
#include "reference/prompt.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "core/contains.h"
#include "core/text.h"

namespace kw::reference {
namespace {

struct PhraseRow {
  const char* words;  // lower case, blanks between; longer rows are tried first
  PhraseKind kind;
  const char* value;
};

constexpr PhraseRow kPhrases[] = {
    {"half precision", PhraseKind::DType, "fp16"},
    {"single precision", PhraseKind::DType, "fp32"},
    {"double precision", PhraseKind::DType, "fp64"},
    {"fp16", PhraseKind::DType, "fp16"},
    {"float16", PhraseKind::DType, "fp16"},
    {"half", PhraseKind::DType, "fp16"},
    {"bf16", PhraseKind::DType, "bf16"},
    {"bfloat16", PhraseKind::DType, "bf16"},
    {"fp32", PhraseKind::DType, "fp32"},
    {"float32", PhraseKind::DType, "fp32"},
    {"fp64", PhraseKind::DType, "fp64"},
    {"float64", PhraseKind::DType, "fp64"},
    {"double", PhraseKind::DType, "fp64"},
    {"int32", PhraseKind::DType, "int32"},
    {"int64", PhraseKind::DType, "int64"},
    {"int8", PhraseKind::DType, "int8"},
    {"uint8", PhraseKind::DType, "uint8"},
    {"last dimension", PhraseKind::Axis, "-1"},
    {"last dim", PhraseKind::Axis, "-1"},
    {"last axis", PhraseKind::Axis, "-1"},
    {"row wise", PhraseKind::Axis, "-1"},
    {"row-wise", PhraseKind::Axis, "-1"},
    {"rowwise", PhraseKind::Axis, "-1"},
    {"per row", PhraseKind::Axis, "-1"},
    {"each row", PhraseKind::Axis, "-1"},
    {"first dimension", PhraseKind::Axis, "0"},
    {"first dim", PhraseKind::Axis, "0"},
    {"first axis", PhraseKind::Axis, "0"},
    {"column wise", PhraseKind::Axis, "0"},
    {"column-wise", PhraseKind::Axis, "0"},
    {"columnwise", PhraseKind::Axis, "0"},
    {"per column", PhraseKind::Axis, "0"},
    {"each column", PhraseKind::Axis, "0"},
    {"with gamma", PhraseKind::Weight, "yes"},
    {"with weight", PhraseKind::Weight, "yes"},
    {"with weights", PhraseKind::Weight, "yes"},
    {"with affine", PhraseKind::Weight, "yes"},
    {"affine", PhraseKind::Weight, "yes"},
    {"without gamma", PhraseKind::Weight, "no"},
    {"without weight", PhraseKind::Weight, "no"},
    {"without weights", PhraseKind::Weight, "no"},
    {"without affine", PhraseKind::Weight, "no"},
    {"no gamma", PhraseKind::Weight, "no"},
    {"no weight", PhraseKind::Weight, "no"},
    {"no weights", PhraseKind::Weight, "no"},
    {"no affine", PhraseKind::Weight, "no"},
    {"non-affine", PhraseKind::Weight, "no"},
    {"balanced", PhraseKind::Priority, "balanced"},
    {"low latency", PhraseKind::Priority, "latency"},
    {"latency", PhraseKind::Priority, "latency"},
    {"small batch", PhraseKind::Priority, "latency"},
    {"high throughput", PhraseKind::Priority, "throughput"},
    {"throughput", PhraseKind::Priority, "throughput"},
    {"large batch", PhraseKind::Priority, "throughput"},
    {"bandwidth", PhraseKind::Priority, "throughput"},
    {"turing", PhraseKind::Arch, "sm_75"},
    {"t4", PhraseKind::Arch, "sm_75"},
    {"ampere", PhraseKind::Arch, "sm_80"},
    {"a100", PhraseKind::Arch, "sm_80"},
    {"a10", PhraseKind::Arch, "sm_86"},
    {"a40", PhraseKind::Arch, "sm_86"},
    {"rtx 3090", PhraseKind::Arch, "sm_86"},
    {"ada", PhraseKind::Arch, "sm_89"},
    {"l4", PhraseKind::Arch, "sm_89"},
    {"l40", PhraseKind::Arch, "sm_89"},
    {"l40s", PhraseKind::Arch, "sm_89"},
    {"rtx 4090", PhraseKind::Arch, "sm_89"},
    {"hopper", PhraseKind::Arch, "sm_90"},
    {"h100", PhraseKind::Arch, "sm_90"},
    {"h200", PhraseKind::Arch, "sm_90"},
    {"gh200", PhraseKind::Arch, "sm_90"},
    {"blackwell", PhraseKind::Arch, "sm_100"},
    {"b100", PhraseKind::Arch, "sm_100"},
    {"b200", PhraseKind::Arch, "sm_100"},
    {"rtx 5090", PhraseKind::Arch, "sm_120"},
    {"tf32", PhraseKind::Precision, "tf32"},
    {"flush denormals", PhraseKind::Precision, "flush"},
    {"deterministic", PhraseKind::Precision, "deterministic"},
    {"reproducible", PhraseKind::Precision, "deterministic"},
};

// Words without a meaning for the task; they are not reported as unused.
constexpr std::array kFillers = {
    "a",         "an",        "the",    "and",    "or",        "of",        "for",      "in",
    "on",        "to",        "with",   "please", "i",         "want",      "need",     "me",
    "my",        "write",     "make",   "give",   "some",      "that",      "kernel",   "cuda",
    "gpu",       "fast",      "very",   "quick",  "using",     "use",       "is",       "be",
    "it",        "this",      "over",   "by",     "along",     "input",     "inputs",   "output",
    "tensor",    "tensors",   "as",     "at",     "optimized", "optimised", "optimize", "optimise",
    "efficient", "implement", "across", "its"};

struct Word {
  std::string lower, written;
};

std::vector<Word> words_of(const std::string& text) {
  std::vector<Word> words;
  std::string current;
  const auto flush = [&] {
    while (!current.empty() && (current.back() == '.' || current.back() == '-')) current.pop_back();
    if (current.empty()) return;
    words.push_back({lower_case(current), current});
    current.clear();
  };
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool part = std::isalnum(byte) != 0 || byte >= 0x80 || c == '_' || c == '-' ||
                      (c == '.' && !current.empty());
    if (part)
      current += c;
    else
      flush();
    if (c == '=') words.push_back({"=", "="});
  }
  flush();
  return words;
}

bool all_digits(const std::string& text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// "4096x1024" with at least two numbers.
bool is_shape(const std::string& word) {
  const std::vector<std::string> parts = split(word, 'x');
  return parts.size() > 1 && std::ranges::all_of(parts, all_digits);
}

bool is_target(const std::string& word) {
  if (!word.starts_with("sm_")) return false;
  std::string digits = word.substr(3);
  if (!digits.empty() && digits.back() == 'a') digits.pop_back();
  return all_digits(digits);
}

class Reader {
 public:
  Reader(std::vector<Word> words, const std::vector<std::string>& known)
      : words_(std::move(words)), known_(known.begin(), known.end()) {}

  PromptReading run() {
    while (at_ < words_.size()) {
      if (row() || numbered_axis() || single()) continue;
      const Word& word = words_[at_++];
      const bool filler = contains(kFillers, word.lower);
      if (filler || word.lower == "=")
        end_run();
      else
        unknown_ += (unknown_.empty() ? "" : " ") + word.written;
    }
    end_run();
    return std::move(reading_);
  }

 private:
  void end_run() {
    if (!unknown_.empty()) reading_.unused.push_back(std::move(unknown_));
    unknown_.clear();
  }

  void found(PhraseKind kind, size_t count, std::string value) {
    end_run();
    Phrase phrase;
    phrase.kind = kind;
    phrase.value = std::move(value);
    for (size_t i = 0; i < count; ++i) phrase.text += (i > 0 ? " " : "") + words_[at_ + i].written;
    at_ += count;
    reading_.phrases.push_back(std::move(phrase));
  }

  // The longest row that matches here.
  bool row() {
    const PhraseRow* best = nullptr;
    size_t length = 0;
    for (const PhraseRow& one : kPhrases) {
      const std::vector<std::string> wanted = split(one.words, ' ');
      if (wanted.size() <= length || at_ + wanted.size() > words_.size()) continue;
      bool same = true;
      for (size_t i = 0; i < wanted.size(); ++i) same = same && words_[at_ + i].lower == wanted[i];
      if (!same) continue;
      best = &one;
      length = wanted.size();
    }
    if (best == nullptr) return false;
    found(best->kind, length, best->value);
    return true;
  }

  // "dim 1", "axis=-1".
  bool numbered_axis() {
    const std::string& first = words_[at_].lower;
    if (first != "dim" && first != "axis" && first != "dimension") return false;
    size_t number = at_ + 1;
    if (number < words_.size() && words_[number].lower == "=") ++number;
    if (number >= words_.size()) return false;
    const std::string& text = words_[number].lower;
    if (!all_digits(text.starts_with("-") ? text.substr(1) : text)) return false;
    found(PhraseKind::Axis, number + 1 - at_, text);
    return true;
  }

  bool single() {
    const std::string& word = words_[at_].lower;
    if (is_target(word)) {
      found(PhraseKind::Arch, 1, word);
    } else if (is_shape(word)) {
      found(PhraseKind::Shape, 1, word);
    } else if (known_.count(word) > 0) {
      found(PhraseKind::Name, 1, word);
      reading_.phrases.back().effect = "the reference's own name";
    } else {
      return false;
    }
    return true;
  }

  std::vector<Word> words_;
  std::set<std::string> known_;
  size_t at_ = 0;
  std::string unknown_;
  PromptReading reading_;
};

/// Whether an op works along axes.
bool has_axis(graph::Op op) {
  const graph::OpKind kind = graph::op_info(op).kind;
  return kind == graph::OpKind::Reduction || kind == graph::OpKind::Scan ||
         kind == graph::OpKind::Selection;
}

/// The axes that the reference's reductions run over, counted from the front and from the back.
std::set<int64_t> axes_of(const task::Task& task) {
  std::set<int64_t> axes;
  const task::Dims& at = task.benchmark_shapes.empty() ? task.correctness_shapes.front()
                                                       : task.benchmark_shapes.front();
  const auto graph = task.graph_at(at);
  if (!graph) return axes;
  for (const graph::Node& node : graph->nodes) {
    if (!has_axis(node.op) || node.inputs.empty()) continue;
    const auto rank = static_cast<int64_t>((*graph)[node.inputs[0]].shape.size());
    for (const int dim : node.attrs.dims) {
      axes.insert(dim);
      axes.insert(dim - rank);
    }
  }
  return axes;
}

}  // namespace

const char* phrase_kind_name(PhraseKind kind) {
  constexpr const char* kNames[] = {"dtype", "axis",      "weight", "priority",
                                    "arch",  "precision", "shape",  "name"};
  return kNames[static_cast<int>(kind)];
}

const Phrase* PromptReading::find(PhraseKind kind) const {
  for (const Phrase& phrase : phrases) {
    if (phrase.kind == kind) return &phrase;
  }
  return nullptr;
}

Phrase* PromptReading::find(PhraseKind kind) {
  return const_cast<Phrase*>(std::as_const(*this).find(kind));
}

PromptReading read_prompt(const std::string& text, const std::vector<std::string>& known) {
  return Reader(words_of(text), known).run();
}

std::vector<std::string> check_prompt(PromptReading& reading, const task::Task& task) {
  std::vector<std::string> contradictions;
  const auto note_effect = [&](Phrase& phrase, bool agrees, const std::string& reference) {
    phrase.effect = agrees ? "agrees with the reference" : "not followed: " + reference;
    if (!agrees)
      contradictions.push_back(fmt::format(
          "the prompt says '{}', but {}; the reference is followed", phrase.text, reference));
  };
  for (Phrase& phrase : reading.phrases) {
    if (!phrase.effect.empty()) continue;
    if (phrase.kind == PhraseKind::DType) {
      bool any = false;
      std::string types;
      for (const task::TensorSpec& input : task.inputs) {
        any = any || phrase.value == tensor::dtype_name(input.dtype);
        types += fmt::format("{}{} is {}", types.empty() ? "" : ", ", input.name,
                             tensor::dtype_name(input.dtype));
      }
      note_effect(phrase, any, types);
    } else if (phrase.kind == PhraseKind::Axis) {
      const std::set<int64_t> axes = axes_of(task);
      const bool agrees = axes.count(parse_int(phrase.value).value_or(0)) > 0;
      note_effect(phrase, agrees,
                  axes.empty() ? "the reference has no reduction"
                               : "the reference reduces over another axis");
    } else if (phrase.kind == PhraseKind::Weight) {
      const bool has = task.inputs.size() > 1;
      note_effect(phrase, has == (phrase.value == "yes"),
                  has ? "the reference has weights" : "the reference has no weights");
    }
  }
  return contradictions;
}

std::vector<std::string> inputs_from_prompt(PromptReading& reading, const std::string& message) {
  Phrase* dtype = reading.find(PhraseKind::DType);
  const std::string marker = "are not known: ";
  const size_t at = message.find(marker);
  if (dtype == nullptr || at == std::string::npos) return {};
  const std::string names =
      message.substr(at + marker.size(), message.find('\n', at) - at - marker.size());
  constexpr std::array kVectors = {"gamma", "beta", "weight", "bias", "w", "b", "scale", "shift"};
  std::vector<std::string> inputs;
  for (const std::string& piece : split(names, ',')) {
    const std::string name(trim(piece));
    const bool vector = contains(kVectors, name);
    inputs.push_back(fmt::format("{}:{}[{}]", name, dtype->value, vector ? "D" : "B,D"));
  }
  dtype->effect = "inputs taken as " + join(inputs, ", ");
  return inputs;
}

}  // namespace kw::reference
