// The primitives only: the C++ pipeline classes need NVRTC.
#pragma once
#include <cuda_pipeline_primitives.h>
