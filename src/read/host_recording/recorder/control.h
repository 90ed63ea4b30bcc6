// The functions with which the worker sets up the recording runtime, and which the text appended to
// a foreign file calls. Plain C, looked up by name.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {
/// Declares a kernel of the image: registers, static shared bytes, local bytes, most threads, then
/// the bytes of each parameter.
void kw_record_kernel(const char* entry, const long* numbers, int count);
/// In libraries loaded after this call, that kernel has the name `name`.
void kw_record_alias(const char* name, const char* entry);
/// Sets an attribute of the device, by CUDA's number. Negative numbers are our own, for values
/// without a CUDA number.
void kw_record_attribute_is(int which, int64_t value);
/// Device memory starts at `base`; 0: where a real device could have it.
void kw_record_begin(uint64_t base, uint64_t memory_bytes);
/// Writes a line for the caller and resets the counters; `noise` seeds the values that reads
/// return.
void kw_record_line(const char* line, uint64_t noise);
/// Records an operation that cannot be replayed, by name.
void kw_record_refuse(const char* why);
/// Records a fill of device memory with elements of 1, 2 or 4 bytes.
void kw_record_fill(void* to, unsigned value, unsigned element, unsigned long bytes);
/// Records a copy inside the device of `rank` dims. Each dim has its extent and the steps between
/// its elements on both sides; `element` is the size in bytes.
/// For a conversion of types, `element` is 256 + 16 FROM + TO, by PyTorch's numbers.
void kw_record_move(void* to, const void* from, unsigned element, int rank, const int64_t* sizes,
                    const int64_t* to_steps, const int64_t* from_steps);
/// A framework frees `bytes` of memory, to allocate them again at other addresses.
void kw_record_take_back(uint64_t bytes);
/// From now on every question about the machine has the answers of another machine.
void kw_record_world(uint64_t seed);
/// Closes the process to the outside (confine.h). Returns 1 if the filter is active.
int kw_record_confine();
/// The same for files, after the last library was loaded.
int kw_record_confine_files();
/// Reading the list of environment variables refuses the call.
void kw_record_hide_environment();
/// A clock that is not made up, in seconds.
double kw_record_seconds();
/// The device of this world: its number, its name, its 16 bytes of identity.
int kw_record_device();
const char* kw_record_device_name();
void kw_record_device_id(unsigned char* bytes);
/// The value of an environment variable in this world; null: it is not set.
const char* kw_record_variable(const char* name);
/// Allocates memory for a tensor.
uint64_t kw_record_tensor(int index, uint64_t bytes);
/// `call` runs before the process is ended because a call did too much.
void kw_record_at_end(void (*call)());
/// Removes at most `room` bytes of the recording and returns their number.
size_t kw_record_take(char* to, size_t room);

int64_t kw_record_attribute(int which);
/// Registers, static shared bytes, local bytes or most threads of a kernel; -1 if it is unknown.
int64_t kw_record_function(const void* function, int what);
/// 0: ordinary host memory, 1: the runtime's host memory, 2: device memory.
int kw_record_pointer_kind(const void* pointer);
}
