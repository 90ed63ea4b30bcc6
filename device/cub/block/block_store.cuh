// Present so that the message is clear.
#error "<cub/block/block_store.cuh> needs NVRTC: clang has only the headers of kernelwright"
