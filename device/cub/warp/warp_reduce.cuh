// Exists so that the error message is clear.
#error "<cub/warp/warp_reduce.cuh> needs NVRTC: clang has only the headers of kernelwright"
