// Present so that the message is clear.
#error "<mma.h> needs NVRTC and NVIDIA headers; clang with the device headers of kernelwright cannot serve it"
