// A GPU that this process shares with other libraries (usually PyTorch): the primary context,
// retained once, and the images loaded into it. Both stay until the process ends, because CUDA
// graphs captured by others contain our kernels.
#pragma once

#include <memory>
#include <string>

#include "core/result.h"
#include "cuda/context.h"
#include "cuda/driver.h"
#include "cuda/image.h"
#include "ports/compiler.h"

namespace kw::clib {

class SharedContext {
 public:
  /// The one of this device, made at first use. Environment Error without such a device.
  static Result<SharedContext*> of(int ordinal);

  const cuda::Context& context() const { return *context_; }
  int ordinal() const { return ordinal_; }
  /// The image in this context, loaded at first use.
  Result<cuda::LoadedImage*> image(const ports::Compiled& compiled);

 private:
  struct Images;

  SharedContext() = default;
  static Result<std::unique_ptr<SharedContext>> open(int ordinal);

  int ordinal_ = 0;
  std::unique_ptr<cuda::Driver> driver_;
  std::unique_ptr<cuda::Context> context_;
  std::shared_ptr<Images> images_;  // shared only because of the deleter
};

/// Makes the context current for this thread; restores the caller's context at the end.
class WithContext {
 public:
  explicit WithContext(const SharedContext& shared);
  ~WithContext();
  WithContext(const WithContext&) = delete;
  WithContext& operator=(const WithContext&) = delete;

 private:
  const cuda::Api& api_;
  bool pushed_ = false;
};

}  // namespace kw::clib
