// Computes large truths with our own fp64 kernels, on a device that runs no candidates. It only
// accelerates the interpreter: unsupported graphs and all failures fall back to it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "ports/compiler.h"
#include "ports/device.h"
#include "ports/oracle.h"
#include "truth/interpreter.h"
#include "truth_gpu/gpu_plan.h"

namespace kw::truth_gpu {

struct GpuOracleOptions {
  int64_t least_elements = int64_t{1} << 23;  // smaller truths are computed on the CPU
  double timeout_seconds = 60;                // for each compile and each run
  double least_work = double{1 << 27};        // more work than this makes a truth large too
};

/// Returns the interpreter's work for a truth: the number of elements of every computed node. For
/// matrix products, 16 multiply-adds count as one element.
double work_of_truth(const graph::Graph& graph);

class GpuOracle final : public ports::Oracle {
 public:
  using OpenDevice = std::function<Result<std::unique_ptr<ports::Device>>()>;
  /// `open` is called for the first large truth. The compiler must outlive this object.
  GpuOracle(ports::Compiler& compiler, OpenDevice open, GpuOracleOptions options = {});
  ~GpuOracle() override;

  Result<std::vector<ports::Truth>> truth(const graph::Graph& graph,
                                          const std::vector<tensor::HostTensor>& inputs,
                                          const ports::TruthOptions& options) override;
  Result<std::vector<tensor::HostTensor>> op_by_op(const graph::Graph& graph,
                                                   const std::vector<tensor::HostTensor>& inputs,
                                                   const ports::TruthOptions& options) override;
  std::string made_by() const override;

 private:
  /// A graph's kernels on the device, or the reason why there are none.
  struct Loaded {
    GpuPlan plan;
    ports::ImageId image = 0;
    std::string refused;
  };

  Result<Loaded*> load(const graph::Graph& graph, const ports::TruthOptions& options);
  Result<ports::ImageId> compile(GpuPlan* plan);
  Result<std::vector<ports::Truth>> on_device(const graph::Graph& graph,
                                              const std::vector<tensor::HostTensor>& inputs,
                                              const ports::TruthOptions& options);

  ports::Compiler& compiler_;
  OpenDevice open_;
  GpuOracleOptions options_;
  truth::Interpreter interpreter_;
  std::unique_ptr<ports::Device> device_;
  std::string lost_;                      // why there is no device; "" unless opening failed
  std::map<std::string, Loaded> loaded_;  // by the graph and the values of its dims
  int on_device_ = 0, on_cpu_ = 0, small_ = 0;
  std::string reason_;  // why the last large truth fell back to the CPU
};

}  // namespace kw::truth_gpu
