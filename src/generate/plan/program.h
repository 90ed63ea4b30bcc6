// One trace of a task made ready for code generation: passes run, names that fit plans and device
// code, quotients of dims named. Cut into regions by partition.h.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "emit/emit.h"
#include "plan/codegen.h"

namespace kw::generate {

/// Plan names of a task's things, the same for all its traces.
struct Names {
  std::map<std::string, std::string> inputs, outputs;  // the task's name -> the module's
  std::set<std::string> in_place;                      // outputs that are inputs too
  std::set<std::string> taken;                         // those above, dims, reserved ones
  std::set<std::string> dims;
  std::map<std::string, std::string> quotients;  // "(D / 3)" -> what it is called
  std::string kernel;                            // what kernels are called after
};
Names names_of(const task::Task& task, const graph::Graph& graph);

struct Program {
  graph::Graph graph;
  std::vector<std::pair<std::string, std::string>> lets;  // "(D / 3)" by the name it got
  std::map<graph::NodeId, Buffer> inputs;
  std::vector<Store> outputs;
  std::vector<std::string> guards;  // plan conditions of the trace
  bool special = false;             // the next program says the same with fewer guards
  Names names;
};

/// Errors: passes that do not exist, and passes that broke the graph (bugs).
Result<Program> make_program(const graph::Graph& trace, Names& names, const Options& options);

}  // namespace kw::generate
