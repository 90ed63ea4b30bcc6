// expect: <cub/cub.cuh> needs NVRTC
#include <cub/cub.cuh>
