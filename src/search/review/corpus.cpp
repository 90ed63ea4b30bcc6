// The corpus has hundreds of modules, and most differ from another in a few lines. So the file
// stores each reference once, some base modules in full, and every entry as edits of a base. Files
// of full modules would be easier to edit, but much larger and harder to compare. Labels are the
// judge's stage and reason. label() derives the label of one field: a fault in an earlier stage
// hides later ones, so such entries have no label there. The cost: an edit refers to line numbers
// of its base, so a base must never change.
#include "review/corpus.h"

#include <fmt/core.h>

#include <map>

#include "core/check.h"
#include "core/contains.h"
#include "core/text.h"
#include "kVerifierCorpus.inc"

namespace kw::review {
namespace {

constexpr const char* kSchema = "kernelwright verifier corpus 1";
const std::vector<std::string> kKinds = {"design", "bug", "harmless", "defensive", "store"};

struct Base {
  std::string task, text;
};

class CorpusReader {
 public:
  Status row(const Json& json) {
    if (!json.is_object()) return input_error("a row is a JSON object");
    if (!headed_) return header(json);
    if (json.contains("entry")) return entry(json);
    if (json.contains("base")) return base(json);
    if (json.contains("reference")) return task(json);
    return input_error("a row has 'entry', 'base', or 'task' with 'reference'");
  }
  Result<Corpus> finish() && {
    if (!headed_) return input_error("the first line is not {{\"schema\": \"{}\"}}", kSchema);
    return std::move(corpus_);
  }

 private:
  Status header(const Json& json) {
    if (json["schema"].as_string() != kSchema)
      return input_error("the first line is not {{\"schema\": \"{}\"}}", kSchema);
    headed_ = true;
    return Done{};
  }
  static Result<std::string> text(const Json& json, const char* member) {
    if (!json[member].is_string() || json[member].as_string().empty())
      return input_error("'{}' is not text", member);
    return json[member].as_string();
  }
  Status task(const Json& json) {
    const std::string name = KW_TRY(text(json, "task"));
    if (!references_.emplace(name, KW_TRY(text(json, "reference"))).second)
      return input_error("task '{}' is listed twice", name);
    return Done{};
  }
  Status base(const Json& json) {
    const std::string name = KW_TRY(text(json, "base"));
    Base base{KW_TRY(text(json, "task")), KW_TRY(text(json, "text"))};
    if (!references_.contains(base.task))
      return input_error("no row above it has task '{}'", base.task);
    if (!bases_.emplace(name, std::move(base)).second)
      return input_error("base '{}' is listed twice", name);
    return Done{};
  }
  Status entry(const Json& json) {
    CorpusEntry entry;
    entry.id = KW_TRY(text(json, "entry"));
    const auto found = bases_.find(KW_TRY(text(json, "base")));
    if (found == bases_.end())
      return input_error("no row above it has base '{}'", json["base"].as_string());
    entry.task = found->second.task;
    entry.reference = references_.at(entry.task);
    entry.kind = KW_TRY(text(json, "kind"));
    if (!contains(kKinds, entry.kind))
      return input_error("'{}' is not one of {}", entry.kind, join(kKinds, ", "));
    entry.mutation = json["mutation"].as_string();
    entry.module = KW_TRY(apply_edits(found->second.text, json["edits"]));
    KW_TRY(verdict(json, entry));
    if (!ids_.emplace(entry.id, 0).second)
      return input_error("entry '{}' is listed twice", entry.id);
    corpus_.entries.push_back(std::move(entry));
    return Done{};
  }
  static Status verdict(const Json& json, CorpusEntry& entry) {
    const std::string word = KW_TRY(text(json, "verdict"));
    if (word != "right" && word != "wrong")
      return input_error("the verdict is neither right nor wrong");
    entry.right = word == "right";
    if (entry.right) return Done{};
    entry.stage = KW_TRY(text(json, "stage"));
    entry.reason = json["reason"].as_string();
    return Done{};
  }

  bool headed_ = false;
  std::map<std::string, std::string> references_;
  std::map<std::string, Base> bases_;
  std::map<std::string, int> ids_;
  Corpus corpus_;
};

}  // namespace

std::optional<bool> label(const CorpusEntry& entry, Field field) {
  if (entry.right) return true;
  const bool text = entry.stage == "static" || entry.stage == "compile";
  const bool memory = entry.stage == "vgpu" || entry.stage == "hygiene";
  if (field == Field::Compile) return !text;
  if (text) return std::nullopt;
  if (field == Field::Memory) return !memory;
  return memory ? std::nullopt : std::optional(false);
}

Result<std::string> apply_edits(const std::string& text, const Json& edits) {
  if (edits.is_null()) return text;
  if (!edits.is_array()) return input_error("the edits are not a list");
  std::vector<std::string> lines = split(text, '\n');
  for (const Json& edit : edits.items()) {
    const Json::Array& parts = edit.items();
    if (parts.size() != 3 || !parts[0].is_int() || !parts[1].is_int() || !parts[2].is_array())
      return input_error("an edit is not [line, count, [lines]]");
    const int64_t first = parts[0].as_int(), count = parts[1].as_int();
    const auto size = static_cast<int64_t>(lines.size());
    if (first < 0 || count < 0 || first > size || count > size - first)
      return input_error("an edit of lines {}+{} is outside of {} lines", first, count, size);
    std::vector<std::string> put_in;
    for (const Json& line : parts[2].items()) {
      if (!line.is_string()) return input_error("a line of an edit is not text");
      put_in.push_back(line.as_string());
    }
    lines.erase(lines.begin() + first, lines.begin() + first + count);
    lines.insert(lines.begin() + first, put_in.begin(), put_in.end());
  }
  return join(lines, "\n");
}

Result<Corpus> parse_corpus(std::string_view text, const std::string& file) {
  CorpusReader reader;
  int number = 0;
  for (const std::string_view line : split_lines(text)) {
    ++number;
    if (trim(line).empty()) continue;
    Result<Json> json = Json::parse(line);
    const Status status =
        json ? reader.row(*json) : Status(input_error("this is not JSON: " + json.error().message));
    if (!status) return Error(status.error()).context(fmt::format("{}: line {}", file, number));
  }
  Result<Corpus> corpus = std::move(reader).finish();
  if (!corpus) return std::move(corpus).error().context(file);
  return corpus;
}

Corpus shipped_corpus() {
  Result<Corpus> corpus = parse_corpus(kVerifierCorpus, "the shipped corpus");
  KW_CHECK(corpus.has_value(), "the shipped corpus can be read");
  return std::move(corpus).value();
}

}  // namespace kw::review
