// The words of device code that are used here by their own names.
#pragma once

#include "wording/approx.h"
#include "wording/helpers.h"
#include "wording/math.h"
#include "wording/names.h"
#include "wording/types.h"
#include "wording/writer.h"

namespace kw::emit {

#include "wording/vocabulary.inc"

}  // namespace kw::emit
