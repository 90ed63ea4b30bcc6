// What a recorded program sees of the machine. Every call of a recording is made in another world:
// another date, process number, host name, environment, device name and device number. A launcher
// whose launches follow one of these differs from call to call.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kw::recorder {

struct World {
  uint64_t seed = 1;
  int64_t date = 0;              // nanoseconds since 1970, at the start of the world
  int64_t elapsed = 1000000000;  // nanoseconds on clocks that never go back
  int devices = 1, device = 0;   // the number of devices, and the current one
  int number = 0;                // of worlds so far
  bool ordinary = false;         // memory lies where a real device could have it
  const char* looked = nullptr;  // what the program looked at that cannot be varied
};

World& world();

/// Until the first call is over, a program may ask once and keep the answer. Then one process has
/// no variables and one device, and another process has all variables and several devices.
bool is_first();

/// A number between 0 and `count` - 1 that belongs to this world; `which` tells questions apart.
uint64_t of_world(uint64_t which, uint64_t count);

/// The current time on one of the system's clocks, in nanoseconds. Reading a clock advances it.
int64_t read_clock(int clock);

/// The answer to a system call about the machine. Returns whether there is one.
bool answer_call(int number, const uint64_t* arguments, int64_t* result);

/// An attribute of the device that no launch may follow: its place on the bus, its clocks. -1: none
/// of these.
int64_t varied_attribute(int which);

/// An address where a real device's memory could lie, away from memory of this process.
uint64_t ordinary_place();

/// Notes that the program looked at something that no recording varies; the call is then refused.
void looked_at(const char* what);

/// Makes the functions of the system's vDSO enter the kernel, where the sandbox answers them.
bool clocks_by_system_calls();
/// Makes the instructions that read the time stamp counter answerable, and reading the list of
/// environment variables noticeable.
void guard_machine();

}  // namespace kw::recorder
