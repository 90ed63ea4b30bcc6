// Present so that the message is clear.
#error "<cub/warp/warp_reduce.cuh> needs NVRTC: clang has only the headers of kernelwright"
