// The TOML library, compiled once: toml.cpp holds its functions, other sources see declarations.
#pragma once

#define TOML_HEADER_ONLY 0
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>
