// NVRTC knows size_t, ptrdiff_t and NULL by itself.
#pragma once
#ifndef offsetof
#define offsetof(type, member) (reinterpret_cast<size_t>(&static_cast<type*>(nullptr)->member))
#endif
