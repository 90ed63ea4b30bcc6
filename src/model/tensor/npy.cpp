// Users exchange tensors with Python, and .npy is the simplest format that NumPy writes. NumPy has
// no bf16, fp8 or fp4, so these are stored as raw bytes ('|V2', '|V1') or as unsigned integers.
// Such bytes do not name their type, so the caller must say which dtype is expected. A format of
// our own would name all types, but users would need a converter. Data is converted to row-major
// little endian on reading, so that the rest of the program has one layout. Sizes are checked
// before memory is taken. The cost: a whole file is in memory twice while it is read.
#include "tensor/npy.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "core/text.h"
#include "os/files.h"

namespace kw::tensor {

namespace {

constexpr uint64_t kFileLimit = uint64_t{64} << 30;

struct DescrRow {
  const char* code;  // without the byte order
  DType type;
};
constexpr DescrRow kDescrs[] = {
    {"f8", DType::Fp64},   {"f4", DType::Fp32},   {"f2", DType::Fp16},  {"i8", DType::Int64},
    {"i4", DType::Int32},  {"i2", DType::Int16},  {"i1", DType::Int8},  {"u8", DType::Uint64},
    {"u4", DType::Uint32}, {"u2", DType::Uint16}, {"u1", DType::Uint8}, {"b1", DType::Bool},
};

const char* code_of(DType type) {
  for (const DescrRow& row : kDescrs) {
    if (row.type == type) return row.code;
  }
  return dtype_size(type) == 2 ? "V2" : "V1";
}

bool numpy_lacks(DType type) { return code_of(type)[0] == 'V'; }

Error unsupported(const std::string& descr) {
  if (descr.find('O') != std::string::npos) {
    return input_error(
        "the array holds pickled Python objects (dtype object), which are never loaded; save a "
        "plain numeric array");
  }
  std::string reason = "its dtype '" + descr + "' has no counterpart in kernel modules";
  const char kind = descr.size() > 1 ? descr[1] : '?';
  if (kind == 'c') reason += " (complex numbers: save real and imaginary parts apart)";
  if (kind == 'U' || kind == 'S') reason += " (text)";
  if (kind == 'f') reason += " (extended precision: convert to float64)";
  return input_error(reason);
}

// The dtype of a file with this descr, given the dtype that the caller expects.
Result<DType> resolve_dtype(const std::string& descr, std::optional<DType> wanted) {
  if (descr.size() < 2) return unsupported(descr);
  const std::string code = descr.substr(1);
  if (code == "V1" || code == "V2") {
    if (!wanted)
      return input_error("raw bytes (dtype '" + descr + "') do not say which type they hold");
    if (dtype_size(*wanted) == code[1] - '0' && (numpy_lacks(*wanted) || *wanted == DType::Fp16))
      return *wanted;
    return input_error("raw bytes (dtype '{}') cannot be read as {}", descr, dtype_name(*wanted));
  }
  const auto* row =
      std::ranges::find_if(kDescrs, [&](const DescrRow& r) { return code == r.code; });
  if (row == std::end(kDescrs)) return unsupported(descr);
  if (!wanted || *wanted == row->type) return row->type;
  if (numpy_lacks(*wanted) && is_unsigned_int(row->type) &&
      dtype_size(row->type) == dtype_size(*wanted)) {
    return *wanted;
  }
  std::string accepted = code_of(*wanted);
  if (numpy_lacks(*wanted))
    accepted = dtype_size(*wanted) == 2 ? "uint16 or '|V2' bytes" : "uint8 or '|V1' bytes";
  if (!numpy_lacks(*wanted)) accepted = "'" + accepted + "'";
  return input_error("the array is {} ('{}') where {} is expected (NumPy {})",
                     dtype_name(row->type), descr, dtype_name(*wanted), accepted);
}

void swap_bytes(Bytes& data, int size) {
  for (size_t at = 0; at + static_cast<size_t>(size) <= data.size();
       at += static_cast<size_t>(size)) {
    std::reverse(data.begin() + static_cast<ptrdiff_t>(at),
                 data.begin() + static_cast<ptrdiff_t>(at) + size);
  }
}

// Column-major to row-major: writes the output in order and updates the input offset in steps.
Bytes to_row_major(const Bytes& from, const std::vector<int64_t>& shape, size_t size) {
  const size_t rank = shape.size();
  std::vector<int64_t> stride(rank, 1), index(rank, 0);
  for (size_t d = 1; d < rank; ++d) stride[d] = stride[d - 1] * shape[d - 1];
  Bytes out(from.size());
  int64_t source = 0;
  for (size_t at = 0; at < out.size(); at += size) {
    std::memcpy(out.data() + at, from.data() + static_cast<size_t>(source) * size, size);
    for (size_t d = rank; d-- > 0;) {
      source += stride[d];
      if (++index[d] < shape[d]) break;
      source -= stride[d] * shape[d];
      index[d] = 0;
    }
  }
  return out;
}

Status check_size(const NpyHeader& header, DType type, uint64_t available) {
  const int64_t count = KW_TRY(element_count(header.shape));
  const auto size = static_cast<uint64_t>(dtype_size(type));
  if (static_cast<uint64_t>(count) > UINT64_MAX / size)
    return input_error("shape {} of {} needs more data bytes than 64 bits can count",
                       shape_text(header.shape), dtype_name(type));
  const uint64_t needed = static_cast<uint64_t>(count) * size;
  if (needed > available) {
    return input_error("truncated: shape {} of {} needs {} data bytes, the file has {}",
                       shape_text(header.shape), dtype_name(type), needed, available);
  }
  if (needed < available) {
    return input_error("{} bytes follow the array of shape {}; one file holds one array",
                       available - needed, shape_text(header.shape));
  }
  return Done{};
}

}  // namespace

Result<HostTensor> parse_npy(std::string_view bytes, std::optional<DType> wanted) {
  const NpyHeader header = KW_TRY(parse_npy_header(bytes));
  const DType type = KW_TRY(resolve_dtype(header.descr, wanted));
  KW_TRY(check_size(header, type, bytes.size() - header.data_offset));
  HostTensor tensor = KW_TRY(make_tensor(type, header.shape));
  // An empty tensor may have no storage, and memcpy needs valid pointers even for 0 bytes.
  if (!tensor.data.empty())
    std::memcpy(tensor.data.data(), bytes.data() + header.data_offset, tensor.data.size());
  const int size = dtype_size(type);
  if (header.descr[0] == '>' && size > 1) swap_bytes(tensor.data, size);
  if (header.fortran_order && header.shape.size() > 1) {
    tensor.data = to_row_major(tensor.data, header.shape, static_cast<size_t>(size));
  }
  if (type == DType::Bool) {
    for (std::byte& b : tensor.data) b = std::byte{b != std::byte{0}};
  }
  return tensor;
}

Result<HostTensor> read_npy(const std::string& path, std::optional<DType> wanted) {
  const std::string bytes = KW_TRY(os::read_file(path, kFileLimit));
  Result<HostTensor> tensor = parse_npy(bytes, wanted);
  if (!tensor) return std::move(tensor).error().context("reading " + path);
  return tensor;
}

std::string format_npy(const HostTensor& tensor) {
  const bool ordered = dtype_size(tensor.dtype) > 1 && !numpy_lacks(tensor.dtype);
  std::string dict = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': (",
                                 ordered ? '<' : '|', code_of(tensor.dtype));
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    dict += fmt::format("{}{}", i > 0 ? " " : "", tensor.shape[i]);
    if (i + 1 < tensor.shape.size() || tensor.shape.size() == 1) dict += ",";
  }
  dict += "), }";
  const bool long_form = dict.size() > 65000;
  const size_t preamble = long_form ? 12 : 10;
  while ((preamble + dict.size() + 1) % 64 != 0) dict += ' ';
  dict += '\n';
  std::string out = "\x93NUMPY";
  out += long_form ? '\x02' : '\x01';
  out += '\0';
  for (size_t shift = 0; shift < (preamble - 8) * 8; shift += 8)
    out += static_cast<char>(dict.size() >> shift & 0xff);
  out += dict;
  out.append(reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size());
  return out;
}

Status write_npy(const std::string& path, const HostTensor& tensor) {
  return os::write_file(path, format_npy(tensor));
}

std::string shape_text(const std::vector<int64_t>& shape) {
  std::vector<std::string> pieces;
  for (const int64_t extent : shape) pieces.push_back(std::to_string(extent));
  return "[" + join(pieces, ", ") + "]";
}

}  // namespace kw::tensor
