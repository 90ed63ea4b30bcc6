// A model's answer as candidate source: the module or the diff in its text, and a module without
// its comments.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace kw::stages {

struct Block {
  std::string word;  // behind the opening fence: "cuda", "diff", ""
  std::string text;
  bool closed = true;  // false: the answer ended inside it
};

/// All fenced blocks of a text, in order.
std::vector<Block> fenced_blocks(std::string_view text);

/// What an answer submits.
struct Submission {
  std::string module;  // the whole text
  std::string parent;  // id of the module a diff was against; "" for a whole module
};

/// Text of a module by its id (a beginning is enough); nothing when there is none. "" asks for the
/// one the conversation is about.
using FindParent =
    std::function<std::optional<std::pair<std::string, std::string>>(const std::string& id)>;

/// The last fenced module or diff of an answer; a bare module counts too. The Error says what is
/// wrong with the answer, in words for the model.
Result<Submission> read_submission(std::string_view answer, const FindParent& parent);
/// The same for a text that should be one or the other already.
Result<Submission> read_source(const std::string& text, const FindParent& parent);

/// The module without comments but with its plan lines; every line stays where it was.
std::string without_comments(const std::string& module);

/// Whether two modules differ in comments and white space alone: what a compiler and the plan
/// reader see is the same.
bool same_code(const std::string& one, const std::string& other);

/// The first JSON object of an answer: fenced, or the whole of it.
std::optional<std::string> json_text(std::string_view answer);

}  // namespace kw::stages
