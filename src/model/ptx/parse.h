// PTX text -> Module. Total: any bytes give a Module or an Error with line numbers, never a crash.
#pragma once

#include <string_view>

#include "core/result.h"
#include "ptx/module.h"

namespace kw::ptx {

/// Fails with Blame::Input; the message lists up to ten problems, each as "ptx line N: …". Bounded: refuses texts over
/// 256 MB, more than 4 M instructions, or variables larger than 1 GB.
Result<Module> parse(std::string_view text);

}  // namespace kw::ptx
