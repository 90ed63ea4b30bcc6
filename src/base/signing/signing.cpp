// libsodium is linked statically, so that the program still runs where it is copied alone. The key
// is made in a file of its own and then linked to its name: linking fails if another process was
// faster, so all processes of a user agree on one key. A lock would do as well, but a killed
// process would have to be cleaned up after.
#include "signing/signing.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/check.h"
#include "core/text.h"
#include "os/entropy.h"
#include "os/file_error.h"
#include "os/files.h"
#include "os/own_files.h"

namespace kw::signing {
namespace {

constexpr std::string_view kHeader = "kernelwright signing key 1\n";
constexpr const char* kKeyName = "signing.key";
constexpr size_t kDigestBytes = 32, kMarkBytes = 16;

static_assert(crypto_sign_SECRETKEYBYTES == 64 && crypto_sign_SEEDBYTES == 32);

std::string hex(const unsigned char* bytes, size_t size) {
  std::string text(2 * size + 1, '\0');
  sodium_bin2hex(text.data(), text.size(), bytes, size);
  text.pop_back();
  return text;
}

template <size_t N>
bool from_hex(std::string_view text, std::array<unsigned char, N>* bytes) {
  size_t size = 0;
  return text.size() == 2 * N &&
         sodium_hex2bin(bytes->data(), N, text.data(), text.size(), nullptr, &size, nullptr) == 0 &&
         size == N;
}

const unsigned char* raw(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// libsodium ends the process when the system gives it no random bits. So it gets none here and asks
// for none: what must be random comes from os/entropy.h, which returns an Error.
const char* no_random_name() { return "none"; }
uint32_t no_random_number() { return 0; }
void no_random_bytes(void* bytes, size_t size) { std::memset(bytes, 0, size); }
randombytes_implementation no_random = {no_random_name, no_random_number, nullptr,
                                        nullptr,        no_random_bytes,  nullptr};

void start() {
  static const bool kStarted =
      randombytes_set_implementation(&no_random) == 0 && sodium_init() >= 0;
  KW_CHECK(kStarted, "libsodium starts");
}

Status make_key(const std::string& path) {
  KW_TRY(os::make_directories(path.substr(0, path.rfind('/'))));
  std::array<unsigned char, 32> seed{};
  for (size_t at = 0; at < seed.size(); at += sizeof(uint64_t)) {
    const uint64_t bits = KW_TRY(os::random_bits());
    std::memcpy(seed.data() + at, &bits, sizeof(bits));
  }
  std::string text = std::string(kHeader) + hex(seed.data(), seed.size()) + "\n";
  const std::string draft =
      fmt::format("{}.new-{}-{:x}", path, ::getpid(), KW_TRY(os::random_bits()));
  Status written = os::write_file(draft, text);
  if (written && ::link(draft.c_str(), path.c_str()) != 0 && errno != EEXIST)
    written = os::file_error("writing", path, errno);
  static_cast<void>(os::remove_file(draft));
  sodium_memzero(text.data(), text.size());
  sodium_memzero(seed.data(), seed.size());
  return written;
}

}  // namespace

struct Digest::State {
  crypto_generichash_state hash;
};

Digest::Digest() : state_(std::make_unique<State>()) {
  start();
  crypto_generichash_init(&state_->hash, nullptr, 0, kDigestBytes);
}
Digest::~Digest() = default;
Digest::Digest(Digest&&) noexcept = default;
Digest& Digest::operator=(Digest&&) noexcept = default;

void Digest::add(std::string_view bytes) {
  crypto_generichash_update(&state_->hash, raw(bytes), bytes.size());
}

std::string Digest::hex() const {
  State copy = *state_;
  std::array<unsigned char, kDigestBytes> out{};
  crypto_generichash_final(&copy.hash, out.data(), out.size());
  return signing::hex(out.data(), out.size());
}

std::string digest(std::string_view bytes) {
  start();
  std::array<unsigned char, kDigestBytes> out{};
  crypto_generichash(out.data(), out.size(), raw(bytes), bytes.size(), nullptr, 0);
  return hex(out.data(), out.size());
}

Signer::Signer(const Seed& seed) {
  std::array<unsigned char, crypto_sign_PUBLICKEYBYTES> open{};
  crypto_sign_seed_keypair(open.data(), secret_.data(), seed.data());
  constexpr std::string_view kUse = "kernelwright marks";  // a key of its own for another use
  crypto_generichash(mark_key_.data(), mark_key_.size(), raw(kUse), kUse.size(), seed.data(),
                     seed.size());
  key_ = hex(open.data(), open.size());
}

Signer::~Signer() {
  sodium_memzero(secret_.data(), secret_.size());
  sodium_memzero(mark_key_.data(), mark_key_.size());
}

Result<Signer> Signer::own(IfMissing missing) {
  start();
  const std::string path = os::data_directory() + "/" + kKeyName;
  if (!os::exists(path)) {
    if (missing == IfMissing::Fail) return input_error("{}: there is no such file", path);
    KW_TRY(make_key(path));
  }
  struct stat st {};
  if (::stat(path.c_str(), &st) == 0 && (st.st_mode & 0077) != 0)
    return environment_error("other users can read the key {}; run: chmod 600 '{}'", path, path);
  std::string text = KW_TRY(os::read_own_file(path, 4096));
  Seed seed{};
  std::string_view rest = text;
  if (!rest.starts_with(kHeader) || !from_hex(trim(rest.substr(kHeader.size())), &seed))
    return environment_error("{} is not a key; remove it, and a new one is made", path);
  Signer signer(seed);
  sodium_memzero(text.data(), text.size());
  sodium_memzero(seed.data(), seed.size());
  return signer;
}

Signer Signer::named(std::string_view name) {
  start();
  Seed seed{};
  crypto_generichash(seed.data(), seed.size(), raw(name), name.size(), nullptr, 0);
  return Signer(seed);
}

std::string Signer::sign(std::string_view text) const {
  std::array<unsigned char, crypto_sign_BYTES> out{};
  crypto_sign_detached(out.data(), nullptr, raw(text), text.size(), secret_.data());
  return hex(out.data(), out.size());
}

std::string Signer::mark(std::string_view text) const {
  std::array<unsigned char, kMarkBytes> out{};
  crypto_generichash(out.data(), out.size(), raw(text), text.size(), mark_key_.data(),
                     mark_key_.size());
  return hex(out.data(), out.size());
}

bool is_signed(const std::string& key, const std::string& signature, std::string_view text) {
  start();
  std::array<unsigned char, crypto_sign_PUBLICKEYBYTES> open{};
  std::array<unsigned char, crypto_sign_BYTES> bytes{};
  return from_hex(key, &open) && from_hex(signature, &bytes) &&
         crypto_sign_verify_detached(bytes.data(), raw(text), text.size(), open.data()) == 0;
}

}  // namespace kw::signing
