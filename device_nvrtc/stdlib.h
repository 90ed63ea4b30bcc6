// Only what headers that ask for it need: NVRTC knows size_t, malloc() and free() by itself.
#pragma once
