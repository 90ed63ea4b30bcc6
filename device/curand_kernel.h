// Exists so that the error message is clear.
#error "<curand_kernel.h> needs NVRTC: clang has only the headers of kernelwright"
