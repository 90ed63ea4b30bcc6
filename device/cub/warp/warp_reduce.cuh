// Present so that the message is clear.
#error "<cub/warp/warp_reduce.cuh> needs NVRTC and NVIDIA headers; clang with the device headers of kernelwright cannot serve it"
