// One trace of a task, prepared for code generation: passes run, names valid in plans and device
// code, quotients of dims named. partition.h divides it into regions.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "emit/emit.h"
#include "plan/codegen.h"

namespace kw::generate {

/// The plan names of a task's tensors, the same for all its traces.
struct Names {
  std::map<std::string, std::string> inputs, outputs;  // the task's name -> the module's name
  std::set<std::string> in_place;                      // outputs that are also inputs
  std::set<std::string> taken;                         // the names above, dims, reserved words
  std::set<std::string> dims;
  std::map<std::string, std::string> quotients;  // "(D / 3)" -> its name
  std::map<std::string, std::string> numbers;    // key of a number -> its name
  std::string kernel;                            // base of the kernels' names
};
Names names_of(const task::Task& task, const Graph& graph);

struct Program {
  Graph graph;
  std::vector<std::pair<std::string, std::string>> lets;  // names with their quotients, "(D / 3)"
  std::map<NodeId, Buffer> inputs;
  std::vector<Store> outputs;
  PlanNumbers numbers;
  std::vector<std::string> guards;  // plan conditions of the trace
  bool special = false;             // the next program is the same with fewer guards
  Names names;
};

/// An Error for a pass that does not exist, or one that broke the graph (a bug).
Result<Program> make_program(const Graph& trace, Names& names, const Options& options);

}  // namespace kw::generate
