// Who wrote the lines of events.jsonl. Each line ends in a mark that only the user's key can make,
// over the line, the mark before it and run.json. So a line that was changed, added, moved, or
// taken from another run is noticed, and so is the line behind a removed one. Internal to store.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "core/json.h"
#include "signing/signing.h"

namespace kw::store {

enum class Proof : uint8_t {
  Own,     // this user's key made its mark
  Other,   // of a session without marks, or of another key
  Broken,  // in a session of this key, but not what the session wrote there
};

class Chain {
 public:
  /// `signer` may be null: then nothing is marked, and every line is another's.
  Chain(std::string_view manifest, const signing::Signer* signer);
  /// The line for an event, with its mark. It becomes the line before the next one.
  std::string extend(std::string event);
  /// Takes a line that was read. `json` is null when it is not an event.
  Proof follow(std::string_view line, const Json& json);
  /// The keys of sessions that were not this user's; "" stands for no key.
  const std::set<std::string>& other_keys() const { return others_; }

 private:
  std::string mark(std::string_view event) const;

  const signing::Signer* signer_;
  std::string base_, head_;
  bool own_session_ = false;
  std::set<std::string> others_;
};

/// A checkpoint of the events, in signature.json: so many bytes of events.jsonl had this digest. It
/// shows when lines were removed at the end, and lets other users check who signed them.
struct Seal {
  std::string key, digest, signature;
  int64_t bytes = 0;

  Json json() const;
  static Seal from(const Json& json);
  bool is_signed(const std::string& run_id) const;
};
Seal make_seal(const signing::Signer& signer, const std::string& run_id, std::string digest,
               int64_t bytes);

/// Whether these are the bytes whose hash was recorded: a digest, or hash_hex() in older runs.
bool same_content(const std::string& recorded, std::string_view bytes);

}  // namespace kw::store
