// Present so that the message is clear.
#error "<cub/warp/warp_scan.cuh> needs NVRTC and NVIDIA headers; clang with the device headers of kernelwright cannot serve it"
