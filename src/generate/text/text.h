// Includes all headers of this module: how device code is written.
#pragma once

#include "text/approx.h"
#include "text/helpers.h"
#include "text/math.h"
#include "text/names.h"
#include "text/types.h"
#include "text/writer.h"
