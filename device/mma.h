// Exists so that the error message is clear.
#error "<mma.h> needs NVRTC: clang has only the headers of kernelwright"
