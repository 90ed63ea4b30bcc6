// Present so that the message is clear.
#error "<cub/block/block_reduce.cuh> needs NVRTC: clang has only the headers of kernelwright"
