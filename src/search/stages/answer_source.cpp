// A model's answer is prose with code blocks, and the last block that is a module or a diff is the
// submission. Earlier blocks are often sketches. A cut-off block is rejected, because half a kernel
// may compile and be wrong. A diff is tried against the parent, then against the parent without
// comments, because models see modules without comments. A fixed answer format such as JSON would
// be easier to read, but models escape code badly. The cost: an answer that ends with an example
// module submits the example.
#include "stages/answer_source.h"

#include <fmt/core.h>

#include "core/contains.h"
#include "core/text.h"
#include "cuda_source/source_lexer.h"
#include "stages/patch.h"

namespace kw::stages {
namespace {

/// The length of the run of '`' or '~' at the start of a line, at least 3; 0: not a fence.
size_t fence_length(std::string_view line) {
  if (line.empty() || (line[0] != '`' && line[0] != '~')) return 0;
  size_t length = 0;
  while (length < line.size() && line[length] == line[0]) ++length;
  return length >= 3 ? length : 0;
}

bool is_module(std::string_view text) {
  for (const std::string_view line : split_lines(text)) {
    const std::string_view rest = trim(line);
    if (rest.starts_with("//!") && trim(rest.substr(3)).starts_with("kernelwright")) return true;
  }
  return false;
}

Result<Submission> patched(const std::string& diff, const FindParent& find) {
  const std::string named = diff_parent(diff);
  auto parent = find(named);
  // Tools write file names there; the current module is meant.
  if (!parent && named.find('.') != std::string::npos) parent = find("");
  if (!parent) {
    return input_error(named.empty()
                           ? "the diff names no parent, and there is no module yet; give the id of "
                             "a module behind '--- ', or a whole module"
                           : fmt::format("the diff is against '{}', but there is no module of that "
                                         "id; give a whole module",
                                         named));
  }
  Result<std::string> text = apply_diff(parent->second, diff);
  // Models see modules without comments, so the diff may be against that text.
  if (!text) text = apply_diff(without_comments(parent->second), diff);
  if (!text) return std::move(text).error().context("the diff does not apply to " + parent->first);
  return Submission{std::move(text).value(), parent->first};
}

std::string plan_line_without_comment(const std::string& line) {
  const size_t begin = line.find("//!");
  const size_t comment = line.find("//", begin + 3);
  return comment == std::string::npos ? line : line.substr(0, comment);
}

}  // namespace

std::vector<Block> fenced_blocks(std::string_view text) {
  std::vector<Block> blocks;
  size_t open = 0;
  char mark = 0;
  for (const std::string_view line : split_lines(text)) {
    const std::string_view bare = trim(line);
    const size_t length = fence_length(bare);
    if (open == 0) {
      if (length == 0) continue;
      open = length;
      mark = bare[0];
      const std::string_view info = trim(bare.substr(length));
      blocks.push_back({std::string(info.substr(0, info.find_first_of(" \t{"))), "", false});
    } else if (length >= open && bare[0] == mark && bare.size() == length) {
      blocks.back().closed = true;
      open = 0;
    } else {
      blocks.back().text.append(line).append("\n");
    }
  }
  return blocks;
}

Result<Submission> read_source(const std::string& text, const FindParent& parent) {
  if (is_module(text)) {
    // A diff that has the version line as context is still a diff.
    const bool diff = is_diff(text) && !trim(text).starts_with("//!");
    return diff ? patched(text, parent) : Submission{text, ""};
  }
  if (is_diff(text)) return patched(text, parent);
  return input_error(
      "the text is neither a kernel module (its first line is '//! kernelwright 1') nor a unified "
      "diff");
}

Result<Submission> read_submission(std::string_view answer, const FindParent& parent) {
  const std::vector<Block> blocks = fenced_blocks(answer);
  for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
    const bool diff = block->word == "diff" || block->word == "patch" || is_diff(block->text);
    if (!diff && !is_module(block->text)) continue;
    if (!block->closed)
      return input_error(
          "the answer ends inside its code block: it was cut, so nothing of it is "
          "used; answer with less text, or with a diff");
    return read_source(block->text, parent);
  }
  if (blocks.empty() && trim(answer).starts_with("//! kernelwright"))
    return Submission{std::string(answer), ""};
  return input_error(blocks.empty()
                         ? "the answer holds no fenced code block"
                         : "no fenced block of the answer is a kernel module (its first line is "
                           "'//! kernelwright 1') or a unified diff");
}

std::string without_comments(const std::string& module) {
  const cuda_source::SourceText source = cuda_source::lex_source(module);
  std::string out = module;
  for (const cuda_source::SourceToken& comment : source.comments) {
    const bool plan =
        comment.alone_before && std::string_view(module).substr(comment.begin).starts_with("//!");
    if (plan) continue;
    for (size_t i = comment.begin; i < comment.end && i < out.size(); ++i) {
      if (out[i] != '\n') out[i] = ' ';
    }
  }
  std::string result;
  for (const std::string_view line : split_lines(out)) {
    std::string kept(line);
    if (trim(line).starts_with("//!")) kept = plan_line_without_comment(kept);
    kept.erase(kept.find_last_not_of(" \t") + 1);
    result += kept + "\n";
  }
  return result;
}

namespace {

/// Tokens, ends of directives and plan lines: all that the compiler and the parser see.
std::vector<std::string> meaning(const std::string& module) {
  const cuda_source::SourceText source = cuda_source::lex_source(module);
  std::vector<std::string> parts;
  std::vector<size_t> ends;
  for (const cuda_source::Directive& one : source.directives) ends.push_back(one.first + one.count);
  for (size_t i = 0; i < source.tokens.size(); ++i) {
    if (contains(ends, i)) parts.emplace_back("\n");
    parts.push_back(source.tokens[i].text);
  }
  for (const cuda_source::SourceToken& comment : source.comments) {
    if (!comment.text.starts_with("//!")) continue;
    std::string plan;
    for (const char c : comment.text) {
      if (c != ' ' && c != '\t' && c != '\r') plan += c;
    }
    parts.push_back(plan);
  }
  return parts;
}

}  // namespace

bool same_code(const std::string& one, const std::string& other) {
  return meaning(one) == meaning(other);
}

std::optional<std::string> json_text(std::string_view answer) {
  for (const Block& block : fenced_blocks(answer)) {
    if (trim(block.text).starts_with("{") && trim(block.text).ends_with("}")) return block.text;
  }
  const std::string_view bare = trim(answer);
  if (bare.starts_with("{") && bare.ends_with("}")) return std::string(bare);
  return std::nullopt;
}

}  // namespace kw::stages
