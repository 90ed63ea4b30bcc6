// Timings as text for users: one table, the verdict, where and how it was measured. Pure functions.
#pragma once

#include <string>

#include "report/style.h"
#include "timing/bench.h"
#include "timing/compare_modules.h"

namespace kw::commands {

std::string bench_text(const timing::BenchReport& report, const report::Style& style);
std::string compare_text(const timing::CompareReport& report, const report::Style& style);
std::string calibration_text(const timing::CalibrationReport& report);

}  // namespace kw::commands
