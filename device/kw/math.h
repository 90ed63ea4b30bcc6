// The math library under its C names.
#pragma once

#include <kw/bessel.h>
#include <kw/erf_inverse.h>
#include <kw/exp_double.h>
#include <kw/exp_float.h>
#include <kw/gamma_double.h>
#include <kw/inverse_double.h>
#include <kw/inverse_float.h>
#include <kw/rounding_double.h>
#include <kw/rounding_float.h>
#include <kw/trig_double.h>
#include <kw/trig_float.h>
