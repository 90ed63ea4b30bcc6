// What a bench needs on this machine: devices, compiler, oracle and torch process, opened once and
// kept together.
#pragma once

#include <memory>
#include <string>

#include "timing/bench.h"

namespace kw::timing {

struct BenchOpenRequest {
  std::string device = "auto", target, compiler;
  double patience_seconds = 600;                   // to wait for a GPU that another process uses
  std::function<void(const std::string&)> notice;  // called when we wait for it
  bool torch = false;                              // whether PyTorch baselines will be requested
};

class BenchMachine {
 public:
  static Result<std::unique_ptr<BenchMachine>> open(const BenchOpenRequest& request);
  ~BenchMachine();
  const BenchTools& tools() const { return tools_; }
  /// Why there is no GPU; "" when there is one.
  const std::string& no_gpu() const { return no_gpu_; }

 private:
  BenchMachine();
  struct Parts;
  std::unique_ptr<Parts> parts_;
  BenchTools tools_;
  std::string no_gpu_;
};

/// Returns `shared`, or opens a machine if it is null. If the GPU cannot run the target's code, the
/// virtual GPU is used and `note` says so. Input Error if the user asked for "gpu".
Result<std::shared_ptr<BenchMachine>> fitting_machine(std::shared_ptr<BenchMachine> shared,
                                                      BenchOpenRequest request, std::string* note);

}  // namespace kw::timing
