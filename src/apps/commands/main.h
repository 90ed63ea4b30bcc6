// The command line: kernelwright COMMAND [options]. apps/kernelwright.cpp calls only this.
#pragma once

namespace kw::commands {

/// Runs one command and returns the process's exit code. Never throws.
int main(int argc, char** argv);

}  // namespace kw::commands
