// What the captive process tells the recording runtime, and what the text appended to a foreign
// file asks it. Plain C, looked up by name.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {
/// A kernel of the image: registers, static shared, local bytes, most threads, then the bytes of
/// each parameter.
void kw_record_kernel(const char* entry, const long* numbers, int count);
/// Libraries that are loaded from now on call that kernel `name`.
void kw_record_alias(const char* name, const char* entry);
/// One of the device's numbers, by CUDA's own number for it; below 0 are those CUDA has none for.
void kw_record_attribute_is(int which, int64_t value);
/// Device memory begins at `base`.
void kw_record_begin(uint64_t base, uint64_t memory_bytes);
/// Writes a line of the caller's and starts counting anew; `noise` seeds what is read back.
void kw_record_line(const char* line, uint64_t noise);
/// What cannot be played back, by name.
void kw_record_refuse(const char* why);
/// A fill of device memory with elements of 1, 2 or 4 bytes.
void kw_record_fill(void* to, unsigned value, unsigned element, unsigned long bytes);
/// A copy inside the device of `rank` dims, each with its extent and how far apart its elements are
/// on both sides, in elements of so many bytes; or from a
/// type to another: 256 + 16 FROM + TO, by PyTorch's numbers.
void kw_record_move(void* to, const void* from, unsigned element, int rank, const int64_t* sizes,
                    const int64_t* to_steps, const int64_t* from_steps);
/// A framework takes that much memory back, to give it out again at other addresses.
void kw_record_take_back(uint64_t bytes);
/// The walls of forbid_system_calls(), for a process that is not ours. 1: they stand.
int kw_record_confine();
/// Memory for a tensor.
uint64_t kw_record_tensor(int index, uint64_t bytes);
/// Called when a call does so much that the process is ended.
void kw_record_at_end(void (*call)());
/// Takes at most `room` bytes of what was recorded.
size_t kw_record_take(char* to, size_t room);

int64_t kw_record_attribute(int which);
/// Registers, static shared, local bytes or most threads of a kernel; -1: there is none such.
int64_t kw_record_function(const void* function, int what);
/// 0: ordinary host memory, 1: the runtime's host memory, 2: device memory.
int kw_record_pointer_kind(const void* pointer);
}
