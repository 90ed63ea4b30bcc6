// All of this module: how device code is worded.
#pragma once

#include "wording/approx.h"
#include "wording/helpers.h"
#include "wording/math.h"
#include "wording/names.h"
#include "wording/types.h"
#include "wording/writer.h"
