// Present so that the message is clear.
#error "<cooperative_groups/memcpy_async.h> needs NVRTC: clang has only the headers of kernelwright"
