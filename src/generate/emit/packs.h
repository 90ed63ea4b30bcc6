// Loads of neighbouring elements as one word: which of a kernel's loads can be, under which
// conditions, and where their elements are found afterwards.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "emit/emitter.h"

namespace kw::generate {

/// The name of the variable that counts inside a pack.
inline constexpr const char* kLane = "lane";

struct PackLoad {
  Buffer buffer;
  Dim address{0};    // of its first element, over the kernel's axes
  std::string name;  // of the pack
};

struct PackStore {
  Buffer to;
  Dim address{0};
  std::string pack;
};

/// Collects packs while values are emitted. Addresses are in terms of the kernel's axes, of which
/// `inner` is the one packs lie along.
class Packs {
 public:
  /// `axes`: the only variables a pack's address may have, because they are known before the
  /// loads; none given: any.
  Packs(Emitter& e, std::string inner, std::set<std::string> axes = {})
      : e_(e), inner_(std::move(inner)), axes_(std::move(axes)) {}

  /// The element at this address (renamed, over axes) as an expression, "x_pack[…].at[lane]" with
  /// `subscript` in place of the dots; nothing where the address does not run along the inner axis
  /// or can never be aligned.
  std::optional<std::string> element(const Buffer& buffer, const Dim& address,
                                     const std::string& subscript);
  const std::vector<PackLoad>& loads() const { return loads_; }
  /// What must hold so that packs of VEC elements are aligned: "D % VEC == 0".
  std::vector<std::string> conditions(const std::string& vec) const;
  /// The same for an address that is stored to; false: never.
  bool can_store(const Dim& address);
  /// Bytes of the narrowest element that is loaded; `most` where there is no narrower one.
  int64_t narrowest(int64_t most = 16) const;
  /// Loads the u-th pack of everything.
  void write_loads(CudaWriter& w) const;
  /// Declares `count` packs of everything and loads them before any is used, in a loop over u whose
  /// body `place` begins, where `guard` holds.
  void write_ahead(CudaWriter& w, const std::string& count, const std::function<void()>& place,
                   const std::string& guard) const;

 private:
  bool runs_along(const Dim& address) const;
  void align(const Dim& address);

  Emitter& e_;
  std::string inner_;
  std::set<std::string> axes_;
  std::vector<PackLoad> loads_;
  std::vector<Dim> multiples_;  // numbers that must be multiples of the pack's length
};

}  // namespace kw::generate
