// Exists so that the error message is clear.
#error "<cub/block/block_scan.cuh> needs NVRTC: clang has only the headers of kernelwright"
