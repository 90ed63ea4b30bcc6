// The report of `verify` as text for users. Pure functions.
#pragma once

#include <string>

#include "report/style.h"
#include "verification/verify.h"

namespace kw::commands {

std::string verify_text(const verification::VerifyReport& report, bool explain,
                        const report::Style& style);

}  // namespace kw::commands
