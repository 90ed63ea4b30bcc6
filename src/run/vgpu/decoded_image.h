// A PTX module that is ready to run: all its kernels are decoded.
#pragma once

#include <map>
#include <string>

#include "core/result.h"
#include "ptx/ptx_module.h"
#include "vgpu/code.h"
#include "vgpu/regions.h"

namespace kw::vgpu {

struct Image {
  ptx::Module module;
  std::map<std::string, Code> kernels;   // by entry name
  std::map<std::string, int> registers;  // per thread, from the compiler; by entry name
  int registers_of(const std::string& entry) const;
};

/// Blame::Input when the text is not PTX or has instructions that the virtual GPU does not execute.
/// The error lists them.
Result<Image> load_image(std::string_view ptx);

/// The first region number after those of the module's variables.
uint32_t first_buffer_region(const Image& image);
/// Bytes of host memory for the module variables that some kernel uses, with their stamps.
uint64_t variable_bytes(const Image& image);
/// Adds the module variables that some kernel uses, with their initial content.
void add_variables(const Image& image, Regions& regions);

}  // namespace kw::vgpu
