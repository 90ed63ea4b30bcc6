// Host references for the mended twins of the seeded bugs, where the right result is easily said.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "corpus.h"

namespace kw::bugs {

struct Twin {
  std::function<void(corpus::Case&)> reference;
  corpus::Tolerance tolerance = {};
};

/// By the bug's name; bugs without an entry are checked for findings alone.
const std::map<std::string, Twin>& twins();

}  // namespace kw::bugs
