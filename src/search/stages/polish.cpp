#include <fmt/core.h>

#include <regex>

#include "core/text.h"
#include "cuda_source/source_lexer.h"
#include "stages/impl.h"
#include "stages/prompts.h"

namespace kw::stages {
namespace {

/// Whether a comment has a number with a unit of time or rate, or compares speeds.
bool claims(const std::string& comment) {
  static const std::regex kClaim(
      R"re(\d\s*(us|µs|ms|ns|microseconds?|milliseconds?|[GTM]i?B/s|[GT]?FLOPS?|[GT]flop/s)(?![A-Za-z0-9_]))re"
      R"re(|\d\s*([x×]|times)\s+(as fast|faster|quicker|speed|better))re"
      R"re(|\d\s*%\s*(faster|of (the )?(peak|floor|roof|bandwidth|achievable))|speed-?up of)re",
      std::regex::icase | std::regex::optimize);
  return std::regex_search(comment, kClaim);
}

}  // namespace

std::string without_claims(const std::string& module) {
  std::string out = module;
  const cuda_source::SourceText source = cuda_source::lex_source(module);
  for (auto comment = source.comments.rbegin(); comment != source.comments.rend(); ++comment) {
    const std::string text = module.substr(comment->begin, comment->end - comment->begin);
    if (text.starts_with("//!") || !claims(text)) continue;
    size_t begin = comment->begin, end = comment->end;
    // A line that has only this comment is removed as a whole.
    if (comment->alone_before && (end >= out.size() || out[end] == '\n')) {
      begin = out.rfind('\n', begin) == std::string::npos ? 0 : out.rfind('\n', begin) + 1;
      end = std::min(end + 1, out.size());
    }
    out.erase(begin, end - begin);
  }
  return out;
}

std::string with_header(const std::string& module, const std::vector<std::string>& lines) {
  std::string out;
  bool written = false;
  for (const std::string_view line : split_lines(module)) {
    const bool plan = trim(line).starts_with("//!");
    if (!plan && !written) {
      for (const std::string& one : lines) out += one.empty() ? "//\n" : "// " + one + "\n";
      written = true;
    }
    out.append(line).append("\n");
  }
  return out;
}

Result<std::optional<record::Candidate>> Stages::Impl::polish(const record::Candidate& winner,
                                                              const std::string& facts,
                                                              std::string* why) {
  *why = "no attempt is left";
  const int left = plan.budget(Stage::Polish) - used(Stage::Polish, false);
  writer.begin(false);
  writer.set_current(winner);
  writer.say(prompt("polish", {{"source", source_text(winner)}, {"facts", data("data", facts)}}));
  for (int i = 0; i < left; ++i) {
    const TryRequest request{Stage::Polish, used(Stage::Polish, false) + 1, false, "stage5_polish"};
    Try made = KW_TRY(writer.submit(request));
    if (writer.failure()) {
      *why = writer.failure()->error().message;
      return std::optional<record::Candidate>{};
    }
    if (made.candidate) {
      *why = "";
      KW_TRY(note(request, made, true, "annotated"));
      return made.candidate;
    }
    *why = made.problem;
    KW_TRY(note(request, made, false, made.problem));
    writer.say(prompt("no_module", {{"problem", made.problem}}));
  }
  return std::optional<record::Candidate>{};
}

}  // namespace kw::stages
