// Reads facts about a robust-kbench file from its syntax tree: signatures, input names, how its
// backward pass calls the candidate. It also appends a configuration to the file, which makes it a
// KernelBench file. Only load_rkb uses it.
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

/// The parameters of a function or of a class's __init__.
struct Signature {
  std::vector<std::string> names;        // in order, without self
  std::map<std::string, Json> defaults;  // those written as literals
  std::vector<std::string> required;     // without a default
  bool any_keyword = false;
};

struct RkbFile {
  std::shared_ptr<const frontend::Source> source;
  Signature init, get_inputs;
  std::string description;               // forward_fn's docstring, up to its arguments
  std::vector<std::string> input_names;  // of Model.forward, without fn
};

/// An Error if Model or get_inputs() is missing. Anything else unusual is a problem.
Result<RkbFile> read_rkb_file(const std::string& path, std::vector<FolderProblem>* problems);

/// How AutogradFunction.backward calls backward_fn.
struct BackwardCall {
  bool found = false;
  std::vector<std::string> arguments;  // names of forward()'s parameters if known
};
BackwardCall read_backward_call(const RkbFile& file, std::vector<FolderProblem>* problems);

/// The ints of configurations, by their names at file level.
using RkbInts = std::map<std::string, int64_t>;

/// Names for the keys of configurations at file level. It is made from all configurations, so that
/// one name means the same in all of them.
class RkbNames {
 public:
  RkbNames(const RkbFile& file, const std::vector<const RkbConfig*>& configs);
  /// The ints of a configuration; each element of a list has its own name.
  RkbInts ints(const RkbConfig& config) const;
  /// The file's text followed by the configuration.
  std::string text(const RkbFile& file, const RkbConfig& config) const;

 private:
  std::string name(bool init, const std::string& key) const;
  std::string argument(bool init, const std::string& key, const Json& value) const;

  std::map<std::string, std::string> init_, input_;
};

/// A JSON value as a Python literal.
std::string python_literal(const Json& value);

}  // namespace kw::task_formats
