// Expresses fills, copies and uploads as launches of our small kernels (helper_kernels.cuh), so
// that they are replayed inside the timed call.
#pragma once

#include <string>
#include <vector>

#include "host_recording/recording.h"
#include "kernel/program.h"

namespace kw::host_recording {

struct HelperCall {
  std::string entry;
  kernel::Dim3 grid, block;
  std::vector<Param> params;
};

/// Whether one of the helper kernels replays this step.
bool needs_helper(const RecordedStep& step);
/// The names of all helper kernels.
inline constexpr const char* kHelperEntries[] = {"kw_fill", "kw_copy", "kw_move", "kw_upload"};

HelperCall fill_call(const RecordedStep& step);
HelperCall copy_call(const RecordedStep& step);
HelperCall move_call(const RecordedStep& step);
std::vector<HelperCall> upload_calls(const RecordedStep& step);

}  // namespace kw::host_recording
