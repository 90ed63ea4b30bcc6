// Stands in for device/kw/float.h on the host: the approximate instructions, here exact.
#pragma once

#include <kw/base.h>

KW_FN float kw_ex2(float x) { return __builtin_exp2f(x); }
