// Makes the text of a foreign file that is compiled for a recording.
#pragma once

#include <string>
#include <vector>

namespace kw::host_recording {

/// The function by which a file's launcher is called. No file can name it: the name depends on the
/// whole text.
std::string entry_name(const std::string& text);

/// The file followed by code that makes its launcher callable; its own lines keep their numbers.
std::string with_trampoline(const std::string& text, const std::string& file_name,
                            const std::string& launcher);
/// The same for a file of an extension that Python calls: all its functions by name. `helpers` adds
/// the kernels that replay fills and copies; a candidate needs them once.
std::string with_functions(const std::string& text, const std::string& file_name, bool helpers);

/// The same for a file that a harness calls: `function` of its bindings, with `arguments` in the
/// format of shim/kw_bound_call.cuh.
std::string with_bound_call(const std::string& text, const std::string& file_name,
                            const std::string& function, const std::string& arguments);

/// The helper kernels alone.
std::string helper_kernels();

/// The shim's own headers, and headers at PyTorch's paths that only include the shim.
struct ShimHeader {
  std::string path, text;
};
std::vector<ShimHeader> torch_headers();
/// Whether a file includes PyTorch's headers.
bool wants_torch(const std::string& text);

}  // namespace kw::host_recording
