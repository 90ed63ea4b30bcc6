// The row of a thread where threads may have none: they stay for shuffles and barriers. What is the
// same for all of a row is read before it is asked whether there is such a row, so those without
// one look at the first.
#pragma once

#include <string>

#include "text/writer.h"

namespace kw::generate {

class OwnRow {
 public:
  /// `shared`: something is read for the row as a whole.
  explicit OwnRow(bool shared) : shared_(shared) {}

  /// What is compared with the number of rows.
  const char* name() const { return shared_ ? "own_row" : "row"; }
  /// Defines it, and `row`.
  void write(CudaWriter& w, const std::string& place, const std::string& rows) const {
    w.line("const Index " + std::string(name()) + " = " + place + ";");
    if (shared_) w.line("const Index row = own_row < " + rows + " ? own_row : 0;");
  }

 private:
  bool shared_;
};

}  // namespace kw::generate
