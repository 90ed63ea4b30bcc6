// The implementation behind the C interface of the clock: one context, its images, one timing at a
// time. Candidates and graphs captured elsewhere are timed by the same clock.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/result.h"
#include "cuda/context.h"
#include "cuda/driver.h"
#include "cuda/graph_subject.h"
#include "cuda/image.h"
#include "cuda/utility_kernels.h"
#include "gpu/messages.h"

namespace kw::clock_library {

/// A graph that another library captured.
struct Baseline {
  std::string name;
  std::vector<cuda::ForeignCall> calls;
  std::vector<std::vector<cuda::DeviceSpan>> pool;
};

class ClockSession {
 public:
  /// Environment Error when the device cannot be used.
  static Result<std::unique_ptr<ClockSession>> open(int ordinal);

  /// Answers Load and Time. When it fails, the reply carries the error.
  gpu::Reply ask(const gpu::Request& request, const std::vector<cuda::DeviceSpan>& inputs,
                 std::vector<Baseline> baselines);
  bool lost() const { return context_->lost(); }

 private:
  ClockSession() = default;
  Status serve(const gpu::Request& request, const std::vector<cuda::DeviceSpan>& inputs,
               std::vector<Baseline> baselines, gpu::Reply& reply);
  Status time(const gpu::Request& request, const std::vector<cuda::DeviceSpan>& inputs,
              std::vector<Baseline> baselines, gpu::Reply& reply);
  Result<std::vector<std::vector<cuda::Sources>>> find_inputs(
      const gpu::Request& request, const std::vector<cuda::DeviceSpan>& inputs);

  std::unique_ptr<cuda::Driver> driver_;
  std::unique_ptr<cuda::Context> context_;
  std::unique_ptr<cuda::UtilityKernels> utilities_;
  std::map<ports::ImageId, std::unique_ptr<cuda::LoadedImage>> images_;
};

}  // namespace kw::clock_library
