// Signing each event would take 30 us and 128 digits; a keyed mark takes one and 32, and its owner
// can check it as well. Everyone else needs the signature, which is made at checkpoints only, in a
// file of its own: with signatures inside the events, events could be cut off behind one.
#include "store/chain.h"

#include <fmt/core.h>

#include "core/hash.h"
#include "core/json_reader.h"
#include "core/json_writer.h"

namespace kw::store {

namespace {

constexpr std::string_view kBegin = ",\"chain\":\"", kEnd = "\"}";
constexpr size_t kMarkDigits = 32, kDigestDigits = 64;

struct Line {
  std::string event;      // without its mark
  std::string_view mark;  // "": it has none
};

Line split_mark(std::string_view line) {
  constexpr size_t kTail = kBegin.size() + kMarkDigits + kEnd.size();
  if (line.size() > kTail && line.ends_with(kEnd)) {
    const std::string_view tail = line.substr(line.size() - kTail);
    if (tail.starts_with(kBegin))
      return {std::string(line.substr(0, line.size() - kTail)) + "}",
              tail.substr(kBegin.size(), kMarkDigits)};
  }
  return {std::string(line), ""};
}

std::string signed_text(const Seal& seal, const std::string& run_id) {
  return fmt::format("kernelwright run 1\n{}\n{}\n{}\n", run_id, seal.bytes, seal.digest);
}

}  // namespace

Chain::Chain(std::string_view manifest, const signing::Signer* signer)
    : signer_(signer), base_(signing::digest(manifest)) {}

std::string Chain::mark(std::string_view event) const {
  return signer_->mark(fmt::format("{}\n{}\n{}", base_, head_, event));
}

std::string Chain::extend(std::string event) {
  if (signer_ == nullptr) return event;
  head_ = mark(event);
  event.pop_back();
  return event.append(kBegin).append(head_).append(kEnd);
}

Proof Chain::follow(std::string_view text, const Json& json) {
  const Line line = split_mark(text);
  const bool proven = signer_ != nullptr && !line.mark.empty() && mark(line.event) == line.mark;
  if (!line.mark.empty()) head_ = line.mark;
  const std::string& key = json["data"]["key"].as_string();
  // A session of another key, or of a version that signed nothing, may follow one of ours.
  const bool opened = json["kind"].as_string() == "opened";
  if (opened) own_session_ = proven || (signer_ != nullptr && key == signer_->key());
  if (proven) return Proof::Own;
  if (own_session_) return Proof::Broken;
  if (opened || others_.empty()) others_.insert(key);
  return Proof::Other;
}

void fields(auto& v, Seal& s) {
  v("format", computed("kernelwright signature"))("version", computed(1));
  v("key", s.key)("bytes", s.bytes)("digest", s.digest)("signature", s.signature);
}

Json Seal::json() const { return record_json(*this); }
Seal Seal::from(const Json& json) { return read_record<Seal>(json); }

bool Seal::is_signed(const std::string& run_id) const {
  return signing::is_signed(key, signature, signed_text(*this, run_id));
}

Seal make_seal(const signing::Signer& signer, const std::string& run_id, std::string digest,
               int64_t bytes) {
  Seal seal{signer.key(), std::move(digest), "", bytes};
  seal.signature = signer.sign(signed_text(seal, run_id));
  return seal;
}

bool same_content(const std::string& recorded, std::string_view bytes) {
  return recorded == (recorded.size() == kDigestDigits ? signing::digest(bytes) : hash_hex(bytes));
}

}  // namespace kw::store
