// expect: <mma.h> needs NVRTC
#include <mma.h>
