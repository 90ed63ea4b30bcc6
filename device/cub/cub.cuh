// Present so that the message is clear.
#error "<cub/cub.cuh> needs NVRTC: clang has only the headers of kernelwright"
