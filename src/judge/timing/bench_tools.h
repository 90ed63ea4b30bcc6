// What a bench works with on this machine: devices, compiler, oracle, torch process, opened once
// and kept together.
#pragma once

#include <memory>
#include <string>

#include "timing/bench.h"

namespace kw::timing {

struct BenchOpenRequest {
  std::string device = "auto", target, compiler;
  double patience_seconds = 600;                   // for a GPU another process uses
  std::function<void(const std::string&)> notice;  // told when we wait for it
  bool torch = false;                              // whether baselines of PyTorch will be asked for
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

/// `shared`, or one opened now where it is null. A GPU that cannot run the target's code is left
/// for the virtual one, and `note` says so; an input Error where "gpu" was asked for.
Result<std::shared_ptr<BenchMachine>> fitting_machine(std::shared_ptr<BenchMachine> shared,
                                                      BenchOpenRequest request, std::string* note);

}  // namespace kw::timing
