// The report of `verify` as text for people. Pure functions.
#pragma once

#include <string>

#include "engine/verify.h"
#include "report/style.h"

namespace kw::cli {

std::string verify_text(const engine::VerifyReport& report, bool explain,
                        const report::Style& style);

}  // namespace kw::cli
