// Present so that the message is clear.
#error "<curand_kernel.h> needs NVRTC and NVIDIA headers; clang with the device headers of kernelwright cannot serve it"
