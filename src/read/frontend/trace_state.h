// The state of one trace: the file, its names, the graph so far, and what the statements of the
// file have set. The parts of the tracer are functions over it (python_tracer.h lists them).
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/result.h"
#include "frontend/objects.h"
#include "frontend/syntax.h"
#include "frontend/trace_settings.h"
#include "frontend/value.h"
#include "graph/builder.h"

namespace kw::frontend {

/// The statement to run after one statement.
enum class Flow : uint8_t { Next, Break, Continue, Return };

struct Frame {
  std::shared_ptr<Scope> scope;
  std::set<std::string> outside;  // names declared global or nonlocal
  Value returned;
  const Function* function = nullptr;
  Value self;  // the first argument of a method
  /// The library source that holds its code; null for the user's file. Errors in library code are
  /// reported at the place of the call.
  const Source* library = nullptr;
};

struct TraceState {
  TraceState(std::shared_ptr<const Source> from, TraceSettings given);
  ~TraceState();
  TraceState(const TraceState&) = delete;
  TraceState& operator=(const TraceState&) = delete;

  /// The names that the running code sees first.
  const std::shared_ptr<Scope>& scope() const {
    return frames.empty() ? globals : frames.back()->scope;
  }
  /// The library source that holds the running code; null for the user's file.
  const Source* library() const { return frames.empty() ? nullptr : frames.back()->library; }
  /// Nodes made from now on get this place of the file. Inside library code they get the caller's.
  void mark(std::string origin, const Json& node);
  /// Its text in the file; empty inside an op that is written in Python.
  std::string shown(const Json& node) const;
  Error refuse(const Json& node, const std::string& message);
  Error located(const Json& node, Error error);

  std::shared_ptr<const Source> source;  // shared: functions point into its tree
  TraceSettings settings;
  graph::Builder graph;
  std::shared_ptr<Scope> globals;
  std::map<std::string, std::shared_ptr<Scope>> libraries;  // by file (library_rows.h)
  std::vector<Frame*> frames;
  std::vector<std::weak_ptr<Scope>> scopes;
  std::vector<std::weak_ptr<Object>> objects;
  std::map<std::string, Error> failed_names;  // file-level names whose value was refused
  Randomness randomness = Randomness::Refused;
  std::vector<Drawn> drawn, parameters;
  std::vector<Tensor> running;  // statistics that PyTorch updates and this trace leaves
  task::Dims dims;              // ints at file level that became dims
  const Json* last_return = nullptr;
  tensor::DType default_dtype = tensor::DType::Fp32;
  bool allow_tf32 = false;
  bool is_located = false;    // the Error being returned already has its place
  bool fatal = false;         // the Error being returned must not be kept for later
  bool keeps_origin = false;  // inside an op that is written in Python: nodes have its name
  bool no_gradient = false;   // inside torch.no_grad() or a similar context
  int64_t steps = 0;
  int depth = 0;
};

}  // namespace kw::frontend
