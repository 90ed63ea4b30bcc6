// Exists so that the error message is clear.
#error "<cub/block/block_exchange.cuh> needs NVRTC: clang has only the headers of kernelwright"
