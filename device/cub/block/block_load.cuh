// Present so that the message is clear.
#error "<cub/block/block_load.cuh> needs NVRTC and NVIDIA headers; clang with the device headers of kernelwright cannot serve it"
