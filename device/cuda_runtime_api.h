// All of it is in kernelwright_device.h, which is included before every kernel module.
#pragma once
#include <kernelwright_device.h>
