// What a schedule may take into account beside its region: the device, and what the task demands.
#pragma once

#include "arch/arch.h"
#include "task/task.h"

namespace kw::generate {

struct TargetContext {
  arch::Target target{};
  task::Precision precision{};
  bool alone = true;      // the module's only kernel: knobs may be generous
  bool switches = false;  // what a schedule always does can be switched off
};

}  // namespace kw::generate
