// Operands of products that are read through windows and pads alone.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "emit/emit.h"
#include "matmul/matmul.h"

namespace kw::generate {

/// Whether the node is nothing but elements of one buffer, moved, and zeros.
bool is_moved(const Region& region, graph::NodeId id);

/// The address of an element is a sum of what a column knows and what a row of k knows, and whether
/// it is there depends on a tap and on the place it is seen from, one of which is the row's. So a
/// row's part is looked up in a table that is made once per step. Taps are bits: one side of the
/// product has those that lie outside, the other the element's own. Beyond the end of k everything
/// lies outside.
class Lookup {
 public:
  /// Nothing where the operand is more than moved.
  static std::optional<Lookup> find(const Region& region, const ProductOperand& operand,
                                    Emitter& e);

  /// The table, "right_table": two steps of kK rows. Where threads lie along k, each of them meets
  /// many columns: these are in a table as well.
  void write_shared(CudaWriter& w) const;
  /// What is known of columns before the loop: of a thread's own, `count` of them, or of all.
  /// `find` writes the parts of the column at a place of the tile.
  void write_columns(CudaWriter& w, const std::string& count,
                     const std::function<void(const std::string& at)>& find) const;
  /// A function that makes the table's rows for one step, by the first threads.
  void write_rows(CudaWriter& w, Emitter& e) const;
  /// Loads the element in row `at_k` into `to`, if it is there: of the thread's column `place`, or
  /// of the tile's column `at`.
  void write_load(CudaWriter& w, const std::string& place, const std::string& to,
                  bool as_memory) const;

 private:
  /// front <= index < end; the axis of taps is one of k's or one of the column's.
  struct Tap {
    std::string index, front, end;
    Axis axis;
    bool of_row = true;
    int64_t first_bit = 0;
    std::string bit(const std::string& tap) const;
  };
  explicit Lookup(const ProductOperand& operand) : operand_(operand) {}
  bool find_taps(const Access& access, Emitter& e);
  /// Adds to `word` what the column, or else the row, knows of taps.
  void write_taps(CudaWriter& w, const std::string& word, bool row) const;
  std::string own(const char* what) const;
  std::string size() const;

  ProductOperand operand_;
  std::string buffer_;
  tensor::DType dtype_ = tensor::DType::Fp32;
  std::string column_, row_;  // the two parts of the address
  std::vector<Tap> taps_;
};

}  // namespace kw::generate
