// What a robust-kbench file says of itself, read from its syntax tree: signatures, input names, how
// its backward pass calls the candidate. And the same file with one configuration written behind
// it, which makes a KernelBench file of it. Used by load_rkb only.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "frontend/syntax.h"
#include "task_formats/rkb_config.h"

namespace kw::task_formats {

/// Parameters of a function or of a class's __init__.
struct Signature {
  std::vector<std::string> names;        // in order, without self
  std::map<std::string, Json> defaults;  // those written as literals
  std::vector<std::string> required;     // without a default
  bool any_keyword = false;
};

struct RkbFile {
  std::shared_ptr<const frontend::Source> source;
  Signature init, get_inputs;
  std::string description;               // forward_fn's, up to its arguments
  std::vector<std::string> input_names;  // of Model.forward, without fn
};

/// Errors: no Model or no get_inputs(). Oddities are problems.
Result<RkbFile> read_rkb_file(const std::string& path, std::vector<FolderProblem>* problems);

/// How AutogradFunction.backward calls backward_fn.
struct BackwardCall {
  bool found = false;
  std::vector<std::string> arguments;  // as names of forward()'s parameters where they are known
};
BackwardCall read_backward_call(const RkbFile& file, std::vector<FolderProblem>* problems);

/// Ints of configurations by the names they have at file level.
using RkbInts = std::map<std::string, int64_t>;

/// How keys of configurations are named at file level; made of all of them, so that one name means
/// one thing throughout.
class RkbNames {
 public:
  RkbNames(const RkbFile& file, const std::vector<const RkbConfig*>& configs);
  /// The ints of a configuration, elements of lists one by one.
  RkbInts ints(const RkbConfig& config) const;
  /// The file's text with the configuration behind it.
  std::string text(const RkbFile& file, const RkbConfig& config) const;

 private:
  std::string name(bool init, const std::string& key) const;
  std::string argument(bool init, const std::string& key, const Json& value) const;

  std::map<std::string, std::string> init_, input_;
};

/// A JSON value as Python writes it.
std::string python_literal(const Json& value);

}  // namespace kw::task_formats
