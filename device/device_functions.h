// Everything here is in kernelwright_device.h, which stands in front of every kernel module.
#pragma once
#include <kernelwright_device.h>
