// The CUDA device language for clang without a CUDA SDK: included before every kernel module.
// Covers what NVRTC offers without any #include; <cuda_fp16.h> and the other headers are next to
// this file.
#pragma once

#include <kw/atomic.h>
#include <kw/base.h>
#include <kw/convert.h>
#include <kw/dpx.h>
#include <kw/float.h>
#include <kw/integer.h>
#include <kw/math_names.h>
#include <kw/memory.h>
#include <kw/output.h>
#include <kw/simd.h>
#include <kw/thread.h>
#include <kw/vector_types.h>
#include <kw/warp.h>
