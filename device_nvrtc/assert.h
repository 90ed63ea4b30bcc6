// NVRTC knows assert() by itself.
#pragma once
