// The TOML library, parsed into code once: base/toml.cpp holds its functions, all others see declarations.
#pragma once

#define TOML_HEADER_ONLY 0
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>
