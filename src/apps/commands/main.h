// The command line: kernelwright COMMAND [options]. The only thing apps/kernelwright.cpp calls.
#pragma once

namespace kw::commands {

/// Runs one command and returns the process's exit code. Never throws.
int main(int argc, char** argv);

}  // namespace kw::commands
