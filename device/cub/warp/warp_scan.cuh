// Present so that the message is clear.
#error "<cub/warp/warp_scan.cuh> needs NVRTC: clang has only the headers of kernelwright"
