// Reads and writes NumPy's .npy format, versions 1 to 3. No structured dtypes, no pickled objects,
// no .npz archives. Types that NumPy lacks (bf16, fp8…, fp4e2m1x2, e8m0) are written as raw bytes,
// '|V2' or '|V1'. They are read from those or from uint16/uint8 when the caller names the type.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "tensor/host_tensor.h"

namespace kw::tensor {

/// The contents of the header of an .npy file.
struct NpyHeader {
  std::string descr;  // "<f4", "|V2", …
  bool fortran_order = false;
  std::vector<int64_t> shape;
  uint64_t data_offset = 0;
};

/// Reads only the header. Every malformed header is an input Error that says where.
Result<NpyHeader> parse_npy_header(std::string_view bytes);

/// Parses a whole file in memory. With `wanted`, the array must have that dtype; raw bytes and
/// unsigned integers of the same width are accepted for types that NumPy lacks. Without it, raw
/// bytes are refused as ambiguous. Fortran order and big-endian data are converted.
Result<HostTensor> parse_npy(std::string_view bytes, std::optional<DType> wanted = std::nullopt);

/// parse_npy() of a file; errors name the path.
Result<HostTensor> read_npy(const std::string& path, std::optional<DType> wanted = std::nullopt);

/// The bytes of the file, version 1.0 (2.0 when the header needs it), with data aligned to 64.
std::string format_npy(const HostTensor& tensor);
Status write_npy(const std::string& path, const HostTensor& tensor);

/// "[3, 4]", "[]": a shape in a message.
std::string shape_text(const std::vector<int64_t>& shape);

}  // namespace kw::tensor
