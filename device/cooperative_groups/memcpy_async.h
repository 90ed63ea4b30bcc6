// Exists so that the error message is clear.
#error "<cooperative_groups/memcpy_async.h> needs NVRTC: clang has only the headers of kernelwright"
