// The row of a thread that may have none but must stay for shuffles and barriers. Values of the row
// are read before the test whether the row exists, so such threads read the first row.
#pragma once

#include <string>

#include "text/writer.h"

namespace kw::generate {

class OwnRow {
 public:
  /// `shared`: some value of the whole row is read.
  explicit OwnRow(bool shared) : shared_(shared) {}

  /// The variable that is compared with the number of rows.
  const char* name() const { return shared_ ? "own_row" : "row"; }
  /// Defines that variable, and `row`.
  void write(CudaWriter& w, const std::string& place, const std::string& rows) const {
    w.line("const Index " + std::string(name()) + " = " + place + ";");
    if (shared_) w.line("const Index row = own_row < " + rows + " ? own_row : 0;");
  }

 private:
  bool shared_;
};

}  // namespace kw::generate
