// Arrays in NumPy's format: read to the byte, or refused; what is read is written and read again.
#include "drive.h"
#include "tensor/npy.h"

namespace kw::fuzz {

const std::vector<std::string> kPieces = {"\x93NUMPY\x01",
                                          "\x93NUMPY\x02",
                                          "{'descr': '<f4', ",
                                          "'fortran_order': True, ",
                                          "'shape': (3, 4), }",
                                          "'shape': (",
                                          "99999999999999999999",
                                          "-1,",
                                          "'<i8'",
                                          "'|b1'",
                                          "'>f4'",
                                          "'V2'",
                                          "()",
                                          "\n",
                                          std::string(4, '\0'),
                                          std::string(4, '\xff'),
                                          "0,"};

void check(const std::string& bytes) {
  const auto tensor = tensor::parse_npy(bytes);
  if (!tensor) return require(!tensor.error().message.empty(), "an Error says something");
  const auto again = tensor::parse_npy(tensor::format_npy(*tensor));
  require(static_cast<bool>(again), "what is written can be read");
  require(again->shape == tensor->shape && again->dtype == tensor->dtype, "and is the same");
}

}  // namespace kw::fuzz
