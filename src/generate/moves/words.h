// What lies below and is used here by its own name: device code, regions and their values.
#pragma once

#include "emit/below.h"

namespace kw::moves {

#include "emit/vocabulary.inc"

}  // namespace kw::moves
