// Includes the base of all schedule families: device code, regions and their values.
#pragma once

#include "emit/builder.h"
#include "emit/domain.h"
#include "emit/emitter.h"
#include "emit/index.h"
#include "emit/kernel.h"
#include "emit/packs.h"
#include "emit/region.h"
#include "emit/reshapes.h"
#include "emit/row_frame.h"
#include "emit/row_loop.h"
#include "emit/schedule_row.h"
#include "emit/target_context.h"
#include "text/text.h"
