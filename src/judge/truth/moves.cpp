#include "truth/moves.h"

#include <algorithm>

#include "os/parallel.h"
#include "truth/graph_pass.h"
#include "truth/scalar.h"

namespace kw::truth {

void pad(const Sources& s, NodeId node, const Workers& workers, Tensor& out) {
  const Node& n = s.graph[node];
  const double fill = n.attrs.number;
  const bool whole = is_integer(n.dtype), wide = whole || n.dtype == tensor::DType::Fp64;
  const int64_t number = whole ? to_integer(fill, n.dtype) : 0;
  const double value = wide ? fill : rounded(n.dtype, fill);
  os::in_blocks(workers.threads, out.count(), [&](int64_t begin, int64_t end) {
    if (whole) std::fill(out.i.begin() + begin, out.i.begin() + end, number);
    if (!whole) std::fill(out.t.begin() + begin, out.t.begin() + end, value);
  });
  View place = dense_view(out.shape);
  place.shape = s.facts[static_cast<size_t>(n.inputs[0])].shape;
  for (size_t d = 0; d < place.shape.size(); ++d)
    place.offset += n.attrs.starts[d].value() * place.strides[d];
  copy_program(make_program(s, n.inputs[0], {}, false), coalesced(place), workers.threads, out);
}

void concat(const Sources& s, NodeId node, const Workers& workers, Tensor& out) {
  const Node& n = s.graph[node];
  const auto dim = static_cast<size_t>(n.attrs.dims[0]);
  View place = dense_view(out.shape);
  for (const NodeId in : n.inputs) {
    place.shape = s.facts[static_cast<size_t>(in)].shape;
    copy_program(make_program(s, in, {}, false), coalesced(place), workers.threads, out);
    place.offset += place.shape[dim] * place.strides[dim];
  }
}

PhiloxBlock philox_block(uint64_t key, uint64_t counter_low, uint64_t counter_high) {
  uint32_t c[4] = {static_cast<uint32_t>(counter_low), static_cast<uint32_t>(counter_low >> 32),
                   static_cast<uint32_t>(counter_high), static_cast<uint32_t>(counter_high >> 32)};
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p = uint64_t{0xD2511F53u} * c[0], q = uint64_t{0xCD9E8D57u} * c[2];
    const uint32_t next[4] = {static_cast<uint32_t>(q >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(q),
                              static_cast<uint32_t>(p >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(p)};
    std::copy_n(next, 4, c);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {{c[0], c[1], c[2], c[3]}};
}

namespace {

int64_t scalar_integer(const Sources& s, NodeId node) {
  const TruthProgram program = make_program(s, node, {}, false);
  return TruthRunner(program).at(0, 1).i[0];
}

}  // namespace

void philox(const Sources& s, NodeId node, const Workers& workers, Tensor& out) {
  const auto seed = static_cast<uint64_t>(scalar_integer(s, s.graph[node].inputs[0]));
  const auto offset = static_cast<uint64_t>(scalar_integer(s, s.graph[node].inputs[1]));
  constexpr int64_t kUnit = 1 << 16;
  const int64_t count = out.count();
  os::parallel_for(workers.threads, (count + kUnit - 1) / kUnit, [&](int, int64_t unit) {
    const int64_t end = std::min(count, (unit + 1) * kUnit);
    for (int64_t at = unit * kUnit; at < end; at += 4) {
      const PhiloxBlock block = philox_block(seed, offset + static_cast<uint64_t>(at / 4), 0);
      for (int64_t k = 0; k < std::min<int64_t>(4, end - at); ++k)
        out.t[static_cast<size_t>(at + k)] = static_cast<double>(block.word[k] >> 8) * 0x1p-24;
    }
  });
}

}  // namespace kw::truth
