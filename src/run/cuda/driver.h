// The CUDA driver, loaded at run time: entry points, version, names of its errors.
#pragma once

#include <memory>
#include <string>

#include "core/result.h"
#include "cuda/driver_api.h"
#include "os/library.h"

namespace kw::cuda {

class Driver {
 public:
  /// Loads and initialises $KERNELWRIGHT_LIBCUDA, otherwise libcuda.so.1 from the usual places. The
  /// environment Error lists what was tried and what failed.
  static Result<std::unique_ptr<Driver>> open();

  const Api& api() const { return api_; }
  int version() const { return version_; }       // 13000
  std::string version_text() const;              // "13.0"
  int device_count() const { return devices_; }  // at least 1
  const std::string& path() const { return library_.path(); }

  /// "CUDA_ERROR_ILLEGAL_ADDRESS".
  std::string error_name(CuResult code) const;
  /// "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)".
  std::string error_text(CuResult code) const;

 private:
  explicit Driver(os::Library library) : library_(std::move(library)) {}
  Status bind();
  Status initialise();

  os::Library library_;
  Api api_;
  int version_ = 0;
  int devices_ = 0;
};

}  // namespace kw::cuda
