// Combines loads of adjacent elements into one word: which loads of a kernel qualify, under which
// conditions, and how their elements are accessed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "emit/emitter.h"

namespace kw::generate {

/// The name of the variable that counts inside a pack.
inline constexpr const char* kLane = "lane";

struct PackLoad {
  Buffer buffer;
  Dim address{0};    // of its first element, in the kernel's axes
  std::string name;  // of the pack
};

struct PackStore {
  Buffer to;
  Dim address{0};
  std::string pack;
};

/// What replaces variables in an index, by their names.
using Renames = std::map<std::string, Dim>;

/// Collects packs while values are emitted. Addresses are expressions of the kernel's axes; packs
/// lie along `inner`.
class Packs {
 public:
  /// `axes` are the only variables allowed in a pack's address, because they are known before the
  /// loads. Empty: any variable.
  Packs(Emitter& e, std::string inner, const std::vector<std::string>& axes = {})
      : e_(e), inner_(std::move(inner)), axes_(axes.begin(), axes.end()) {}

  /// The element at this address (renamed, over axes) as an expression, "x_pack[…].at[lane]" with
  /// `subscript` for "[…]". Empty if the address does not run along the inner axis or can never be
  /// aligned.
  std::optional<std::string> element(const Buffer& buffer, const Dim& address,
                                     const std::string& subscript);
  /// The element of the u-th pack as a value of the scope `level`, for an address that `by`
  /// renames.
  std::optional<Value> value(const Buffer& buffer, const Dim& address, const Renames& by,
                             int level);
  const std::vector<PackLoad>& loads() const { return loads_; }
  /// The conditions under which packs of VEC elements are aligned: "D % VEC == 0".
  std::vector<std::string> conditions(const std::string& vec) const;
  /// The same for a store's address; false if it can never be aligned.
  bool can_store(const Dim& address);
  /// Computes the store's element at `index` in the scope `level`, into a pack that write_stores()
  /// stores.
  void store(const Store& store, const Index& index, const Renames& by, int level);
  /// Declares the packs of the stores, lets `fill` write their elements, and stores them.
  void write_stores(CudaWriter& w, const std::function<void()>& fill) const;
  /// Whether there are loads by packs, and all stores can be aligned.
  bool packed() const { return stores_align_ && !loads_.empty(); }
  /// The size in bytes of the narrowest loaded element; `most` if none is narrower.
  int64_t narrowest(int64_t most = 16) const;
  /// The elements of a pack of 16 bytes with the narrowest type, at most 8; 1 without loads.
  int64_t width(int64_t most = 16) const;
  /// Loads the u-th pack of every load.
  void write_loads(CudaWriter& w) const;
  /// Declares `count` packs for every load and loads them before any is used. It writes a loop over
  /// u; `place` writes the start of its body. The loads are under `guard`, after what `first`
  /// writes.
  void write_ahead(
      CudaWriter& w, const std::string& count, const std::function<void()>& place,
      const std::string& guard, const std::function<void()>& first = [] {}) const;

 private:
  bool runs_along(const Dim& address) const;
  void align(const Dim& address);

  Emitter& e_;
  std::string inner_;
  std::set<std::string> axes_;
  std::vector<PackLoad> loads_;
  std::vector<PackStore> stores_;
  bool stores_align_ = true;
  std::vector<Dim> multiples_;  // numbers that must be multiples of VEC
};

}  // namespace kw::generate
