#include "captive/source.h"

#include "kTrampolineText.inc"

namespace kw::captive {

std::string with_trampoline(const std::string& text, const std::string& file_name,
                            const std::string& launcher) {
  return "#line 1 \"" + file_name + "\"\n" + text +
         "\n#line 1 \"recording\"\n#define KW_LAUNCHER " + launcher + "\n" + kTrampolineText;
}

}  // namespace kw::captive
