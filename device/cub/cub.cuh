// Exists so that the error message is clear.
#error "<cub/cub.cuh> needs NVRTC: clang has only the headers of kernelwright"
