// Keys that the user gave us in the environment, and where they are kept. Internal to os: others
// see add_key_variables(), is_key_variable() and hide_keys() of os/process.h, and env().
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kw::os {

/// The value of a key that hide_keys() took out of the environment; "" when it has none.
std::string hidden_key(std::string_view name);
/// All of them, as NAME=value, for a program that is the user's own.
std::vector<std::string> hidden_keys();

}  // namespace kw::os
