// A kernel module that can be called: parsed once, compiled for what the callers' shapes select.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "binding/bind.h"
#include "clib/bound_kernel.h"
#include "core/json.h"
#include "core/result.h"
#include "kernel/module.h"
#include "kernel/select.h"
#include "ports/compiler.h"
#include "ports/device.h"

namespace kw::clib {

class Kernel {
 public:
  /// `options` as for kw_kernel_open. Input Error for text that is not a module.
  static Result<std::unique_ptr<Kernel>> open(const Json& options);

  const std::string& description() const { return description_; }
  /// `request` as for kw_kernel_plan. If the module does not compile, the caller is not to blame:
  /// `fault` gets the compiler's message, and the plan is null.
  Result<std::unique_ptr<LaunchPlan>> plan(const Json& request, std::string* fault);

 private:
  explicit Kernel(kernel::Module module) : module_(std::move(module)) {}
  void describe();
  Result<binding::BindingRequest> names(const Json& request) const;
  Status infer_strides(const Json& request, binding::BindingRequest& names) const;
  Result<std::shared_ptr<ports::Device>> virtual_gpu(const std::string& target);
  Result<const ports::Compiled*> compile(const kernel::Selection& selection,
                                         const kernel::Bindings& bindings, ports::ImageKind image,
                                         std::string* fault);

  const kernel::Module module_;
  std::map<std::string, int64_t> tunes_;
  std::string compiler_, description_;
  double timeout_seconds_ = 60;
  std::mutex mutex_;
  std::map<std::string, ports::Compiled> compiled_;                     // by selection and target
  std::map<std::string, std::shared_ptr<ports::Device>> virtual_gpus_;  // by target
};

}  // namespace kw::clib
