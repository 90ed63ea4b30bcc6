// An operand of a product on CUDA cores, on its way from memory through registers to its tile in
// shared memory.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "moves/matmul.h"
#include "moves/words.h"

namespace kw::moves {

/// An operand that is read through windows and pads alone. Its address is a sum of what a column
/// knows and what a row of k knows, and whether it is there is asked per axis of k: so a row's part
/// is looked up in a table that is made once per step, and a column keeps a bit for every tap that
/// lies outside.
struct Lookup {
  /// An index that must lie within an extent, and the axis of k it runs along.
  struct Bound {
    std::string index, front, end;  // front <= index < end
    Axis tap;
    int64_t first_bit = 0;
  };
  std::string buffer;
  tensor::DType dtype = tensor::DType::Fp32;
  std::string column, row;  // the two parts of the address
  std::vector<Bound> bounds;
};

class Staged {
 public:
  /// `sums`: what products are added up in, and tiles hold.
  Staged(const Region& region, const Product& product, bool left, tensor::DType sums);

  /// Lets the emitter write the value of one element; the rest is asked for afterwards.
  void prepare(Emitter& e);

  /// Whether 16 bytes can be loaded at once, and under which conditions.
  bool packed() const { return packed_; }
  int64_t pack() const;
  const std::vector<std::string>& conditions() const { return conditions_; }
  bool has_table() const { return lookup_.has_value(); }

  void write_shared(CudaWriter& w) const;
  /// What a thread knows of its places before the loop.
  void write_places(CudaWriter& w, Emitter& e) const;
  /// The table's rows for one step, by the first threads.
  void write_table(CudaWriter& w, Emitter& e) const;
  /// One step's elements into registers; `whole` says that k does not end within.
  void write_fetch(CudaWriter& w, Emitter& e) const;
  void write_keep(CudaWriter& w) const;

 private:
  std::string constant(const char* what) const;
  std::string type() const { return register_type(sums_); }
  const char* side() const { return operand_.left ? "mi" : "ni"; }
  std::string extent() const;
  std::string size() const { return operand_.left ? "kM" : "kN"; }
  bool has_own_place() const { return !operand_.along_k && !operand_.side().is_whole(); }
  std::string own(const std::string& axis) const;
  std::optional<Lookup> find_lookup(Emitter& e) const;
  void find_packs(Emitter& e);
  std::string is_within() const;
  void write_loop(CudaWriter& w, const std::function<void()>& body) const;
  void write_side(CudaWriter& w, const std::string& at) const;
  void write_looked_up(CudaWriter& w) const;

  const Region& region_;
  const Product& product_;
  ProductOperand operand_;
  tensor::DType sums_;
  bool packed_ = false;
  std::vector<std::string> conditions_;
  std::optional<Lookup> lookup_;
  std::string element_;
};

}  // namespace kw::moves
