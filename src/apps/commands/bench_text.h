// Timings as text for people: one table, the verdict, where and how it was measured. Pure
// functions.
#pragma once

#include <string>

#include "engine/bench.h"
#include "engine/compare.h"
#include "report/style.h"

namespace kw::cli {

std::string bench_text(const engine::BenchReport& report, const report::Style& style);
std::string compare_text(const engine::CompareReport& report, const report::Style& style);
std::string calibration_text(const engine::CalibrationReport& report);

}  // namespace kw::cli
