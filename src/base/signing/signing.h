// Signatures of what lies on disk: one Ed25519 pair per user. A record that its user signed cannot
// be changed by others without notice. It does not protect against programs that run as the user
// and may read the key.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/result.h"

namespace kw::signing {

/// BLAKE2b-256 as 64 lower-case hex digits. Two texts with the same digest cannot be found,
/// unlike with hash_hex().
std::string digest(std::string_view bytes);

/// The digest of a text that grows.
class Digest {
 public:
  Digest();
  ~Digest();
  Digest(Digest&&) noexcept;
  Digest& operator=(Digest&&) noexcept;
  void add(std::string_view bytes);
  /// Of all bytes so far; more may follow.
  std::string hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

enum class IfMissing : uint8_t { Make, Fail };

/// The user's key pair.
class Signer {
 public:
  /// From $XDG_DATA_HOME/kernelwright/signing.key (docs/run-folder.md), which is made at first
  /// need. Several processes that make it get the same one. Errors: the folder cannot be written,
  /// the file is not a key, or other users can read it.
  static Result<Signer> own(IfMissing missing);
  /// For tests: the same name gives the same key.
  static Signer named(std::string_view name);
  ~Signer();
  Signer(Signer&&) = default;
  Signer& operator=(Signer&&) = default;

  /// The public key: 64 hex digits.
  const std::string& key() const { return key_; }
  /// 128 hex digits that only the private key can make.
  std::string sign(std::string_view text) const;
  /// 32 hex digits that only the private key can make or check; much faster than a signature.
  std::string mark(std::string_view text) const;

 private:
  using Seed = std::array<unsigned char, 32>;
  explicit Signer(const Seed& seed);
  std::array<unsigned char, 64> secret_{};
  Seed mark_key_{};
  std::string key_;
};

/// Whether the owner of `key` signed the text. False for words that are not a key or a signature.
bool is_signed(const std::string& key, const std::string& signature, std::string_view text);

}  // namespace kw::signing
