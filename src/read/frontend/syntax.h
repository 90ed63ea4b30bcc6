// A Python file and its syntax tree, as Python's own parser gives it; the file is never run. Also
// where errors get their place: file:line:column, the line, a caret.
#pragma once

#include <memory>
#include <string>

#include "core/json.h"
#include "core/result.h"

namespace kw::frontend {

/// Nodes are JSON objects: "_" is the kind, "at" [line, column, end line, end column], the rest the
/// fields of Python's ast module (see python/ast_dump.py).
struct Source {
  std::string path;  // as the user named it
  std::string name;  // for messages: the last part of the path
  std::string text;
  Json tree;  // Module
};

/// Begins what Python says of a text that is no Python.
inline constexpr const char* kSyntaxMark = "Python's parser: ";
/// Files beyond this are not references.
inline constexpr size_t kMaxSourceBytes = 1 << 20;

/// Starts python3 for a moment. Syntax errors are input Errors with their place; no python3 is an
/// environment Error.
Result<std::shared_ptr<const Source>> parse_python(std::string text, const std::string& path);

/// "ref.py:3:7: error: message", the line, a caret, and the rest of a message of several lines as
/// hints.
Error error_at(const Source& source, const Json& node, const std::string& message);

/// What the node looks like in the file, on one line, cut when long.
std::string text_of(const Source& source, const Json& node);
/// The node's first line; 0 when it has none.
int line_of(const Json& node);
int column_of(const Json& node);

}  // namespace kw::frontend
