// Checks the user's values for a module's dims, tunables and scalars, and makes kernel::Bindings of
// them.
#pragma once

#include <map>
#include <set>
#include <string>

#include "binding/inputs.h"
#include "core/result.h"
#include "kernel/module.h"
#include "kernel/select.h"
#include "ports/device.h"

namespace kw::binding {

struct BindingRequest {
  std::map<std::string, int64_t> dims;
  std::map<std::string, int64_t> tunes;
  std::map<std::string, std::string> scalars;  // as typed; read by the declaration's dtype
  std::set<std::string> absent;
};

/// The shapes of `files` also set dims. A dim that the user gives must agree with them.
Result<kernel::Bindings> bind_names(const kernel::Module& module, const BindingRequest& request,
                                    const NamedTensors& files, const arch::Target& target,
                                    const ports::DeviceInfo& device);

}  // namespace kw::binding
