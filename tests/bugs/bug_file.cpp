#include "bug_file.h"

#include "binding/load.h"
#include "core/text.h"
#include "os/files.h"

namespace kw::bugs {
namespace {

Result<record::FindingKind> kind_named(const std::string& name) {
  const auto kind = record::finding_from_name(name);
  if (!kind) return input_error("no finding is called '" + name + "'");
  return *kind;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (std::string& word : split(trim(text), ' '))
    if (!word.empty()) words.push_back(std::move(word));
  return words;
}

Result<int64_t> number(const std::string& text) {
  const auto value = parse_int(text);
  if (!value) return input_error("'" + text + "' is not a number");
  return *value;
}

Status read_fill(BugFile& bug, const std::vector<std::string>& words) {
  const size_t dots = words.size() == 3 ? words[2].find("..") : std::string::npos;
  if (dots == std::string::npos) return input_error("fill NAME LOW..HIGH");
  const int64_t low = KW_TRY(number(words[2].substr(0, dots)));
  const int64_t high = KW_TRY(number(words[2].substr(dots + 2)));
  bug.fills[words[1]] = {low, high};
  return Done{};
}

Status read_dims(BugFile& bug, const std::vector<std::string>& words) {
  for (size_t i = 1; i < words.size(); ++i) {
    const size_t equals = words[i].find('=');
    if (equals == std::string::npos) return input_error("dims NAME=VALUE");
    bug.setting.dims[words[i].substr(0, equals)] = KW_TRY(number(words[i].substr(equals + 1)));
  }
  return Done{};
}

Status read_directive(BugFile& bug, const std::vector<std::string>& words) {
  if (words.empty()) return input_error("empty directive");
  if (words[0] == "dims") return read_dims(bug, words);
  if (words[0] == "fill") return read_fill(bug, words);
  if (words[0] == "order") {
    bug.order = true;
  } else if (words[0] == "certain") {
    bug.certain = true;
  } else if (words[0] == "absent" && words.size() == 2) {
    bug.setting.absent.insert(words[1]);
  } else if (words[0] == "budget" && words.size() == 2) {
    bug.budget = static_cast<uint64_t>(KW_TRY(number(words[1])));
  } else if (words[0] == "misalign" && words.size() == 2) {
    bug.misalign = static_cast<int>(KW_TRY(number(words[1])));
  } else if (words[0] == "expect" && words.size() == 2) {
    bug.due[KW_TRY(kind_named(words[1]))];
  } else if (words[0] == "refused") {
    bug.refused = join({words.begin() + 1, words.end()}, " ");
  } else if (words[0] == "also") {
    for (size_t i = 1; i < words.size(); ++i) bug.also.insert(KW_TRY(kind_named(words[i])));
  } else {
    return input_error("unknown directive '" + words[0] + "'");
  }
  return Done{};
}

Status read_line(BugFile& bug, int line, std::string_view text) {
  if (text.substr(0, 3) == "//?") return read_directive(bug, words_of(text.substr(3)));
  const size_t marker = text.find("//~");
  if (marker == std::string_view::npos) return Done{};
  const auto kind = KW_TRY(kind_named(std::string(trim(text.substr(marker + 3)))));
  bug.due[kind].insert(line);
  return Done{};
}

}  // namespace

Result<BugFile> read_bug(const std::string& path) {
  BugFile bug;
  bug.module = KW_TRY(binding::load_module(path));
  int line = 0;
  for (std::string_view text : split_lines(bug.module.text)) {
    ++line;
    if (auto read = read_line(bug, line, text); !read)
      return std::move(read).error().context(path + ":" + std::to_string(line));
  }
  return bug;
}

std::vector<std::string> bug_names(const std::string& folder) {
  static constexpr std::string_view kTwin = ".fixed.cu";
  std::vector<std::string> names;
  for (const std::string& file : os::list_directory(folder))
    if (file.size() > kTwin.size() && file.ends_with(kTwin))
      names.push_back(file.substr(0, file.size() - kTwin.size()));
  return names;
}

}  // namespace kw::bugs
