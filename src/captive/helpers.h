// Fills, copies and uploads as launches of small kernels that are compiled with the foreign file
// (trampoline.cuh): what a call did beside launching is played back inside the timed call.
#pragma once

#include <string>
#include <vector>

#include "captive/recording.h"
#include "kernel/program.h"

namespace kw::captive {

struct HelperCall {
  std::string entry;
  kernel::Dim3 grid, block;
  std::vector<Param> params;
};

HelperCall fill_call(const Step& step);
HelperCall copy_call(const Step& step);
HelperCall move_call(const Step& step);
std::vector<HelperCall> upload_calls(const Step& step);

}  // namespace kw::captive
