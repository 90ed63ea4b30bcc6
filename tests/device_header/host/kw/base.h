// Stands in for device/kw/base.h when the math headers are compiled for the host.
#pragma once

#define __constant__
#define KW_FN static inline __attribute__((always_inline, unused))
#define KW_LAMBDA
#define KW_MATH static inline __attribute__((unused))
