// Operands of products that are read only through windows and pads.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "emit/emit.h"
#include "matmul/matmul.h"

namespace kw::generate {

/// Whether the node consists only of moved elements of one buffer and of zeros.
bool is_moved(const Region& region, NodeId id);

/// The address of an element is a sum of a column's part and a part of its row of k. Whether the
/// element exists depends on a tap and on the window's position, one of which belongs to the row.
/// So the row's part is looked up in a table that is made once per step. Taps are bits: one side of
/// the product has the bits of taps that lie outside, the other the bit of the element's tap.
/// Beyond the end of k all taps are outside.
class Lookup {
 public:
  /// Empty if the operand is not only moved.
  static std::optional<Lookup> find(const Region& region, const ProductOperand& operand,
                                    Emitter& e);

  /// Declares the table, "right_table": two steps of kK rows. If threads lie along k, each of them
  /// reads many columns, so columns are in a table too.
  void write_shared(CudaWriter& w) const;
  /// Writes the columns' parts before the loop: `count` of a thread's own, or all in the table.
  /// `find` writes the axes of the column at a position of the tile.
  void write_columns(CudaWriter& w, const std::string& count,
                     const std::function<void(const std::string& at)>& find) const;
  /// Writes a function in which the first threads make the table's rows for one step.
  void write_rows(CudaWriter& w, Emitter& e) const;
  /// Loads the element in row `at_k` into `to`, if it exists: of the thread's column `place`, or of
  /// the tile's column `at`.
  void write_load(CudaWriter& w, const std::string& place, const std::string& to,
                  bool as_memory) const;

 private:
  /// front <= index < end; the axis of taps belongs to k or to the column.
  struct Tap {
    std::string index, front, end;
    Axis axis;
    bool of_row = true;
    int64_t first_bit = 0;
    std::string bit(const std::string& tap) const;
  };
  explicit Lookup(const ProductOperand& operand) : operand_(operand) {}
  bool find_taps(const Access& access, Emitter& e);
  /// Adds the taps of the column, or of the row if `row`, to `word`.
  void write_taps(CudaWriter& w, const std::string& word, bool row) const;
  std::string own(const char* what) const;
  std::string size() const;

  ProductOperand operand_;
  std::string buffer_;
  DType dtype_ = DType::Fp32;
  std::string column_, row_;  // the two parts of the address
  std::vector<Tap> taps_;
};

}  // namespace kw::generate
