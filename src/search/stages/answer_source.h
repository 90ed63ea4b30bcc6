// Reads candidate source from a model's answer: the module or the diff in its text. Also removes
// the comments of a module.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace kw::stages {

struct Block {
  std::string word;  // after the opening fence: "cuda", "diff", ""
  std::string text;
  bool closed = true;  // false: the answer ended inside it
};

/// All fenced blocks of a text, in order.
std::vector<Block> fenced_blocks(std::string_view text);

/// The module that an answer submits.
struct Submission {
  std::string module;  // the whole text
  std::string parent;  // id of the module that a diff changes; "" for a whole module
};

/// The id and text of a module by the beginning of its id; not set when unknown. "" means the
/// current module of the conversation.
using FindParent =
    std::function<std::optional<std::pair<std::string, std::string>>(const std::string& id)>;

/// The last fenced module or diff of an answer, or a module without a fence. The Error tells the
/// model what is wrong with its answer.
Result<Submission> read_submission(std::string_view answer, const FindParent& parent);
/// The same for a text that is itself a module or a diff.
Result<Submission> read_source(const std::string& text, const FindParent& parent);

/// The module without comments but with its plan lines; line numbers do not change.
std::string without_comments(const std::string& module);

/// Whether two modules differ only in comments and white space: the compiler and the parser of the
/// launch plan see the same.
bool same_code(const std::string& one, const std::string& other);

/// The first fenced JSON object of an answer, or the whole answer if it is one.
std::optional<std::string> json_text(std::string_view answer);

}  // namespace kw::stages
