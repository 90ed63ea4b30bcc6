#include "emit/packs.h"

#include <fmt/core.h>

#include <algorithm>

namespace kw::generate {

namespace {

constexpr int64_t kLongestPack = 16;  // elements: bytes in one 16-byte word

}  // namespace

bool Packs::runs_along(const Dim& address) const {
  const auto step = coefficient(address, inner_);
  if (!step || !step->same_text(Dim(1))) return false;
  for (const auto& [factors, number] : address.terms()) {
    const bool is_number = factors.empty();
    if (is_number && number % kLongestPack != 0) return false;
    for (const std::string& factor : factors) {
      // The value of a quotient, or of an index read from memory, is unknown.
      if (factor.front() == '(' || factor.back() == ']') return false;
      if (!axes_.empty() && e_.is_variable(factor) && axes_.count(factor) == 0) return false;
    }
    if (factors.size() == 1 && number == 1 && factors[0] != inner_ && e_.is_variable(factors[0])) {
      return false;  // another variable has a step of one element
    }
  }
  return true;
}

void Packs::align(const Dim& address) {
  for (const auto& [factors, number] : address.terms()) {
    Dim term(number);
    bool inner = false;
    for (const std::string& factor : factors) {
      inner = inner || factor == inner_;
      if (!e_.is_variable(factor)) term = term * Dim::symbol(factor, 1);
    }
    if (inner) continue;
    const auto same = [&](const Dim& other) { return other.same_text(term); };
    if (std::ranges::none_of(multiples_, same)) multiples_.push_back(term);
  }
}

std::optional<std::string> Packs::element(const Buffer& buffer, const Dim& address,
                                          const std::string& subscript) {
  if (!runs_along(address)) return std::nullopt;
  if (buffer.dtype == DType::E8m0) e_.need("from_exponent");
  align(address);
  auto found = std::ranges::find_if(loads_, [&](const PackLoad& load) {
    return load.buffer.name == buffer.name && load.address.same_text(address);
  });
  if (found == loads_.end()) {
    loads_.push_back({buffer, address, e_.fresh(buffer.name + "_pack")});
    found = loads_.end() - 1;
  }
  return fmt::format("{}{}.at[{}]", found->name, subscript, kLane);
}

std::optional<Value> Packs::value(const Buffer& buffer, const Dim& address, const Renames& by,
                                  int level) {
  const auto text = element(buffer, substitute(address, by), "[u]");
  if (!text) return std::nullopt;
  e_.note(address);
  return Value{{from_memory(buffer.dtype, *text)}, level};
}

bool Packs::can_store(const Dim& address) {
  if (!runs_along(address)) return false;
  align(address);
  return true;
}

void Packs::store(const Store& store, const Index& index, const Renames& by, int level) {
  const Dim whole = linear(store.to.shape, index), address = substitute(whole, by);
  stores_align_ = can_store(address) && stores_align_;
  const Value value = e_.value(store.node, index);
  e_.touch(store.to);
  e_.note(whole);
  const std::string pack = e_.fresh(store.to.name + "_pack");
  stores_.push_back({store.to, address, pack});
  e_.at(level).line("{}.at[{}] = {};", pack, kLane, e_.stored(value, store.to.dtype));
}

void Packs::write_stores(CudaWriter& w, const std::function<void()>& fill) const {
  for (const PackStore& store : stores_)
    w.line("Pack<{}, kVec> {};", memory_type(store.to.dtype), store.pack);
  fill();
  for (const PackStore& store : stores_)
    w.line("store_pack({} + {}, {});", store.to.name, store.address.text(), store.pack);
}

std::vector<std::string> Packs::conditions(const std::string& vec) const {
  std::vector<std::string> out;
  for (const Dim& number : multiples_) {
    if (number.is_constant()) {
      if (number.value() % kLongestPack != 0)
        out.push_back(fmt::format("{} % {} == 0", number.text(), vec));
      continue;
    }
    const bool one = number.terms().size() == 1 && number.terms().begin()->first.size() == 1 &&
                     number.terms().begin()->second == 1;
    out.push_back(one ? fmt::format("{} % {} == 0", number.text(), vec)
                      : fmt::format("({}) % {} == 0", number.text(), vec));
  }
  return out;
}

int64_t Packs::narrowest(int64_t most) const {
  for (const PackLoad& load : loads_)
    most = std::min<int64_t>(most, tensor::dtype_size(load.buffer.dtype));
  return most;
}

int64_t Packs::width(int64_t most) const {
  return loads_.empty() ? 1 : std::min<int64_t>(16 / narrowest(most), 8);
}

void Packs::write_loads(CudaWriter& w) const {
  for (const PackLoad& load : loads_)
    w.line("{}[u] = load_pack<kVec>({} + {});", load.name, load.buffer.name, load.address.text());
}

void Packs::write_ahead(CudaWriter& w, const std::string& count, const std::function<void()>& place,
                        const std::string& guard, const std::function<void()>& first) const {
  if (loads_.empty()) return;
  for (const PackLoad& load : loads_)
    w.line("Pack<{}, kVec> {}[{}];", memory_type(load.buffer.dtype), load.name, count);
  const auto loop = w.unrolled("for (int u = 0; u < {}; ++u)", count);
  place();
  const auto inside = w.block("if ({})", guard);
  first();
  write_loads(w);
}

}  // namespace kw::generate
