// Source excerpts with marked lines, as a compiler shows them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/style.h"

namespace kw::report {

struct Mark {
  int line = 0;       // from 1
  int column = 0;     // from 1; 0: the whole line is meant
  std::string label;  // written behind the underline
  Paint paint = Paint::Error;
};

/// The marked lines with one line of context around each, numbered, every mark underlined below its
/// line. Distant marks are separated by "...". Marks outside the text are left out; "" when none is
/// inside.
std::string excerpt(std::string_view text, std::vector<Mark> marks, const Style& style);

/// "--> rms_norm.cu:44"
std::string location(const std::string& file, int line, int column = 0);

}  // namespace kw::report
