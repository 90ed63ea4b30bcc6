// Source excerpts with marked lines, as compilers show them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/style.h"

namespace kw::report {

struct Mark {
  int line = 0;       // from 1
  int column = 0;     // from 1; 0: the whole line
  std::string label;  // written after the underline
  Paint paint = Paint::Error;
};

/// The marked lines, numbered, with one line of context around each. Each mark is underlined below
/// its line. "..." separates distant marks. Marks outside the text are ignored; "" when none is
/// inside.
std::string excerpt(std::string_view text, std::vector<Mark> marks, const Style& style);

/// "--> rms_norm.cu:44"
std::string location(const std::string& file, int line, int column = 0);

}  // namespace kw::report
