// A kernel module for given dims and tunables: exactly which buffers exist and which launches run.
// A device sees no other part of a candidate.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tensor/dtype.h"

namespace kw::kernel {

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  bool operator==(const Dim3&) const = default;
  uint64_t count() const { return uint64_t{x} * y * z; }
};

enum class Role : uint8_t { Input, Output, Inout, Scratch };
/// "input", …: the keyword of its plan line.
const char* role_name(Role role);
enum class Fill : uint8_t {
  Poison,    // outputs and plain scratch: a pattern that must be overwritten
  Zero,      // scratch "= 0": memset at the start of every call, included in the time
  ZeroKept,  // scratch "= 0 kept": zero at first; must be zero after each call (checked)
};

struct Buffer {
  std::string name;
  Role role = Role::Input;
  tensor::DType dtype = tensor::DType::Fp32;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  // in elements; empty = contiguous row-major
  int64_t bytes = 0;             // storage, including gaps from strides
  int64_t align = 16;            // alignment that the module may assume
  Fill fill = Fill::Poison;
  bool present = true;  // false: an optional input that was not given (pointer is null)
};

/// A pointer inside a parameter's bytes.
struct Patch {
  uint32_t at = 0;  // offset of its 8 bytes
  int buffer = -1;  // index into Program::buffers
  int64_t add = 0;  // byte offset from the start of the buffer
};

/// One kernel parameter: a pointer to a buffer (the device inserts the address), or plain bytes.
struct Param {
  int buffer = -1;                  // index into Program::buffers, or -1
  std::vector<uint8_t> bytes;       // the value, when buffer is -1
  std::string name;                 // as written in args(...), for messages
  std::vector<Patch> patches = {};  // of `bytes`: recorded launches only
};

/// Writes the addresses of a parameter into a copy of its bytes. `address_of` maps a buffer to its
/// address.
template <typename AddressOf>
std::vector<uint8_t> patched_bytes(const Param& param, const AddressOf& address_of) {
  std::vector<uint8_t> bytes = param.bytes;
  for (const Patch& patch : param.patches) {
    uint64_t address = address_of(patch.buffer) + static_cast<uint64_t>(patch.add);
    for (size_t i = 0; i < sizeof(address) && patch.at + i < bytes.size(); ++i, address >>= 8)
      bytes[patch.at + i] = static_cast<uint8_t>(address & 0xff);
  }
  return bytes;
}

struct Launch {
  std::string kernel;  // as written: "rms_norm<256, 2>"
  std::string entry;   // symbol in the compiled image
  Dim3 grid, block, cluster;
  int64_t shared_bytes = 0;  // dynamic
  bool cooperative = false;
  bool pdl = false;
  int line = 0;  // of the launch line in the module
  std::vector<Param> params;
};

struct Program {
  std::string module_name;  // file name shown in reports
  std::vector<Buffer> buffers;
  std::vector<Launch> launches;
};

}  // namespace kw::kernel
