// Which buffers of a program the caller fills, and which it gets back.
#pragma once

#include "kernel/program.h"

namespace kw::kernel {

/// By role alone: also of a buffer that is absent or empty.
inline bool has_input_role(const Buffer& buffer) {
  return buffer.role == Role::Input || buffer.role == Role::Inout;
}
inline bool has_output_role(const Buffer& buffer) {
  return buffer.role == Role::Output || buffer.role == Role::Inout;
}
/// Whether bytes are exchanged: present, not empty, and of such a role.
inline bool is_given(const Buffer& buffer) {
  return buffer.present && buffer.bytes > 0 && has_input_role(buffer);
}
inline bool is_returned(const Buffer& buffer) {
  return buffer.present && buffer.bytes > 0 && has_output_role(buffer);
}

}  // namespace kw::kernel
