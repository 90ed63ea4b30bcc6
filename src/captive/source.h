// The text of a foreign file as it is compiled for a recording.
#pragma once

#include <string>

namespace kw::captive {

/// The file with what makes its launcher callable behind it; its own lines keep their numbers.
std::string with_trampoline(const std::string& text, const std::string& file_name,
                            const std::string& launcher);

}  // namespace kw::captive
