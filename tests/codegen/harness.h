// Generated modules judged on the virtual GPU: whole tasks through the gate, single graphs against
// the interpreter's truth. Opened once per process.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "plan/codegen.h"
#include "task/task.h"
#include "task_formats/load.h"
#include "tensor/host_tensor.h"
#include "truth/interpreter.h"
#include "verification/verify.h"

namespace kw::codegen_tests {

/// What a module is run with beside its inputs.
struct Setting {
  int sms = 0;                           // as if the device had so many; 0 = as the target has
  std::map<std::string, int64_t> tunes;  // others have their first value
};

class Harness {
 public:
  static Harness& get();

  /// Why nothing can be judged here; "" when it can.
  const std::string& problem() const { return problem_; }
  generate::Options options() const;
  /// "" when the gate passes the module, else what it says. `family`: of the inputs; "" = all.
  std::string judge(const std::string& module_text, const task::Task& task,
                    verification::VerifyPools& pools, const std::string& family = "");
  /// "" when the module gives the graph's outputs for these inputs, else what is wrong.
  std::string judge(const std::string& module_text, const graph::Graph& graph,
                    const std::vector<tensor::HostTensor>& inputs, const task::Dims& dims = {},
                    const Setting& setting = {});

 private:
  Harness();
  Result<std::vector<tensor::HostTensor>> run(const std::string& module_text,
                                              const graph::Graph& graph,
                                              const std::vector<tensor::HostTensor>& inputs,
                                              const task::Dims& dims, const Setting& setting);

  std::string problem_;
  std::unique_ptr<ports::Compiler> compiler_;
  std::unique_ptr<ports::Device> device_;
  truth::Interpreter oracle_;
};

/// What the first line of a test reference asks for: "# options: --input x:fp32[N] --dims N=8".
task_formats::LoadOptions options_of(const std::string& path);

/// A task around one graph with fixed shapes.
task::Task task_of(const graph::Graph& graph);

/// Whether every fast schedule left this design's kernels to the floor.
bool is_floor(const generate::Design& design);

}  // namespace kw::codegen_tests
