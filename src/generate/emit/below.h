// All that a family of schedules stands on. vocabulary.inc has its names.
#pragma once

#include "emit/domain.h"
#include "emit/emitter.h"
#include "emit/index.h"
#include "emit/kernel.h"
#include "emit/packs.h"
#include "emit/region.h"
#include "emit/reshapes.h"
#include "emit/row_loop.h"
#include "emit/settle.h"
#include "emit/situation.h"
#include "wording/approx.h"
#include "wording/helpers.h"
#include "wording/math.h"
#include "wording/names.h"
#include "wording/types.h"
#include "wording/writer.h"
