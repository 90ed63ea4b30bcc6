// The facts beside its region that a schedule may use: the device, and the requirements of the
// task.
#pragma once

#include "arch/arch.h"
#include "task/task.h"

namespace kw::generate {

struct TargetContext {
  arch::Target target{};
  task::Precision precision{};
  bool alone = true;      // the module's only kernel: it may have many tunables
  bool switches = false;  // methods that are always on can be switched off
};

}  // namespace kw::generate
