// Present so that the message is clear.
#error "<crt/mma.h> needs NVRTC: clang has only the headers of kernelwright"
