// A Python file and its syntax tree from Python's own parser; the file is never run. It also gives
// errors their place: file:line:column, the line, a caret.
#pragma once

#include <memory>
#include <string>

#include "core/json.h"
#include "core/result.h"

namespace kw::frontend {

/// A node is a JSON object. "_" is its kind and "at" is [line, column, end line, end column]. The
/// other members are the fields of Python's ast module (see python/ast_dump.py).
struct Source {
  std::string path;  // as the user gave it
  std::string name;  // for messages: the last part of the path
  std::string text;
  Json tree;  // Module
};

/// The prefix of an error message of Python's parser.
inline constexpr const char* kSyntaxMark = "Python's parser: ";
/// The largest file that is read as a reference, in bytes.
inline constexpr size_t kMaxSourceBytes = 1 << 20;

/// Starts python3 to parse the text, without a byte order mark; other text must be UTF-8. A syntax
/// error is an input Error with its place. A missing python3 is an environment Error.
Result<std::shared_ptr<const Source>> parse_python(std::string text, const std::string& path);

/// "ref.py:3:7: error: message", the line and a caret. The other lines of a long message become
/// hints.
Error error_at(const Source& source, const Json& node, const std::string& message);

/// The node's text in the file, on one line, shortened when long.
std::string text_of(const Source& source, const Json& node);
/// The node's first line; 0 when it has no place.
int line_of(const Json& node);
int column_of(const Json& node);

}  // namespace kw::frontend
