// Tasks for the gate's own tests, built without Python.
#pragma once

#include <string>
#include <vector>

#include "task/task.h"

namespace kw::verify_tests {

/// "rms_norm", "softmax", "layer_norm", "row_sum", "sum_all", "row_max_column", "transpose",
/// "argmax", "matmul", "product_norm".
task::Task make_task(const std::string& name);
std::vector<std::string> task_names();

}  // namespace kw::verify_tests
