// Present so that the message is clear.
#error "<cub/block/block_load.cuh> needs NVRTC: clang has only the headers of kernelwright"
