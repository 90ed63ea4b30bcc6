// An operand of a product on CUDA cores: its way from memory through registers to its tile in
// shared memory.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "emit/emit.h"
#include "matmul/matmul.h"
#include "matmul/matmul_lookup.h"

namespace kw::generate {

class Staged {
 public:
  /// `sums` is the dtype of the sums, which is also that of the tiles.
  Staged(const Region& region, const Product& product, bool left, DType sums);

  /// The emitter writes the value of one element here; must be called before the functions below.
  void prepare(Emitter& e);

  /// Whether 16 bytes can be loaded at once, and under which conditions.
  bool packed() const { return packed_; }
  int64_t pack() const;
  const std::vector<std::string>& conditions() const { return conditions_; }
  /// Its table of the rows of k, if it has one.
  const std::optional<Lookup>& lookup() const { return lookup_; }

  void write_shared(CudaWriter& w) const;
  /// Writes a thread's positions before the loop.
  void write_places(CudaWriter& w, Emitter& e) const;
  /// Writes the loads of one step into registers; `whole` means that k does not end inside it.
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
  void find_packs(Emitter& e);
  std::string is_within() const;
  void write_loop(CudaWriter& w, const std::function<void()>& body) const;
  void write_side(CudaWriter& w, const std::string& at) const;

  const Region& region_;
  const Product& product_;
  ProductOperand operand_;
  DType sums_;
  bool packed_ = false;
  std::vector<std::string> conditions_;
  std::optional<Lookup> lookup_;
  std::string element_;
};

}  // namespace kw::generate
