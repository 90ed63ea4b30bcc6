// The problem: a product of few tiles leaves most of the device idle in its last wave. The choice:
// all blocks share the tiles of that wave along k, in equal numbers of steps, and a second launch
// adds the parts in a fixed order. The alternative, atomic sums, would save that launch, but their
// order, and so the bits, would change from run to run. The cost: scratch for every part, and a few
// divisions.
#include "matmul/matmul_split.h"

#include <fmt/core.h>

#include <algorithm>

namespace kw::generate {

namespace {

/// The values with `best` first.
std::vector<int64_t> with_first(int64_t best, std::vector<int64_t> values) {
  const auto at = std::ranges::find(values, best);
  std::rotate(values.begin(), at, at + 1);
  return values;
}

}  // namespace

Cut TileSizes::best(const Product& product, bool split, const TargetContext& context) const {
  return cuts_of(product.extents(), split, heights, widths, pace, context.target.default_sms)
      .front();
}

double TileSizes::fastest(const Product& product, const TargetContext& context) const {
  const double whole = best(product, false, context).clocks;
  const double gain = gain_of_split(product, context);
  return gain > kLikelyFaster ? whole / gain : whole;
}

double TileSizes::gain_of_split(const Product& product, const TargetContext& context) const {
  if (product.k().value() < 2 * kShortestPart) return 0;
  return best(product, false, context).clocks / best(product, true, context).clocks;
}

void TileSizes::add_tunes(KernelBuilder& kernel, const Cut& cut, const std::string& where) const {
  kernel.tune("TILE_M", with_first(cut.tile_m, heights));
  kernel.tune("TILE_N", with_first(cut.tile_n, widths), where);
}

std::string TileShare::tiles() const {
  return fmt::format("{} * ceil_div({}, {}) * ceil_div({}, {})", as_factor(product_.batches()),
                     product_.m().text(), name("TILE_M"), product_.n().text(), name("TILE_N"));
}

Parameters TileShare::parameters(const std::string& constness) const {
  if (!split_) return {};
  return {{"Index upto", name("WHOLE")},
          {"Index rest", name("REST")},
          {"Index share", name("SHARE")},
          {constness + type() + "* found", sums()}};
}

/// The number of steps of a tile, as device code; 64 bits, to count those of all tiles.
std::string TileShare::steps() const {
  const std::string k = product_.k().text();
  return fmt::format("const long long steps = {0} > kK ? ({0} + kK - 1) / kK : 1;", k);
}

void TileShare::write(CudaWriter& w, const std::function<void()>& body) const {
  const std::string k = product_.k().text();
  if (!split_) {
    w.line("const Index tile = blockIdx.x;");
    if (product_.phases().empty()) {
      w.line("const Index begin = 0, end = {};", k);
    } else {
      w.line("const Index begin = 0;");
    }
    write_tile(w);
    body();
    return;
  }
  w.line(steps());
  w.line("const Index past = static_cast<Index>(blockIdx.x) - upto;");
  w.line("long long next = past < 0 ? 0 : static_cast<long long>(past) * share, many = 0;");
  w.line("const long long stop = past < 0 ? steps : min(next + share, rest * steps);");
  const auto parts = w.block("for (; next < stop; next += many)");
  w.line("const Index shared = next / steps, step = next % steps;");
  w.line("many = min(steps - step, stop - next);");
  w.line("const bool is_part = many < steps;");
  w.line("const Index tile = past < 0 ? blockIdx.x : upto + shared;");
  w.line("const Index begin = step * kK;");
  w.line("const Index end = step + many < steps ? begin + many * kK : {};", k);
  write_tile(w);
  body();
}

void TileShare::write_tile(CudaWriter& w) const {
  w.line("const Index tiles_m = ({} + kM - 1) / kM, tiles_n = ({} + kN - 1) / kN;",
         product_.m().text(), product_.n().text());
  w.line("const auto place = tile_place<Index>(tile, tiles_m, tiles_n);");
  w.line("const Index batch = place.batch, first_m = place.m * kM, first_n = place.n * kN;");
}

// Each part has its own scratch: from one part to the next either the block or the tile changes.
void TileShare::write_part(CudaWriter& w) const {
  if (!split_) return;
  const auto part = w.block("if (is_part)");
  w.line("found[(past + shared) * (kM * kN) + at_m * kN + at_n] = total;");
  w.line("continue;");
}

void TileShare::add_plan(KernelBuilder& kernel) const {
  kernel.need({"tile_place"});
  if (!split_) return;
  const std::string rest = name("REST"), steps = name("STEPS"), slots = name("SLOTS");
  const std::string wish = name("WISH"), share = name("SHARE"), whole = name("WHOLE");
  kernel.let("SLOTS", fmt::format("SMS * ceil_div({} * 64, {} * {})", name("RESIDENT"),
                                  name("TILE_M"), name("TILE_N")));
  kernel.let("WHOLE", fmt::format("{} / {} * {}", tiles(), slots, slots));
  kernel.let("REST", fmt::format("{} - {}", tiles(), whole));
  kernel.let("STEPS", fmt::format("max(1, ceil_div({}, {}))", product_.k().text(), step_));
  kernel.let("WISH", fmt::format("max(1, min({}, ceil_div({} * {} * {}, {})))", slots, rest, steps,
                                 step_, kShortestPart));
  kernel.let("SHARE",
             fmt::format("max(1, ceil_div({} * {}, max(1, {}, {})))", rest, steps, rest, wish));
  kernel.let("BLOCKS", fmt::format("ceil_div({} * {}, {})", rest, steps, share));
  kernel.method("memory.split_k_parallel_reduce");
  kernel.scratch(sums(), dtype_,
                 fmt::format("max(1, {} + {}) * {} * {}", name("BLOCKS"), rest, name("TILE_M"),
                             name("TILE_N")));
}

std::string TileShare::finish_body(Emitter& e) const {
  const View& result = product_.result();
  std::vector<std::string> variables = product_.batch().variables();
  for (const std::string& variable : result.variables()) variables.push_back(variable);
  e.open(variables, 0, 0);
  const int scope = e.open({}, 1, 0);
  product_.write_stores(e, scope, "total");
  const std::string stores = e.close(), text = e.close();
  for (const Dim& extent : {product_.m(), product_.n(), product_.k()}) e.note(extent);
  CudaWriter w(1);
  w.raw(e.at(0).text());
  w.line("constexpr int kM = {}, kN = {}, kK = {}, kBlocks = kM * kN / 256;", name("TILE_M"),
         name("TILE_N"), step_);
  w.line(steps());
  w.line("const Index shared = blockIdx.x / kBlocks, tile = upto + shared;");
  w.line("const Index first = shared * steps / share, last = ((shared + 1) * steps - 1) / share;");
  w.line("if (shared >= rest || first == last) return;");
  w.line("const int at = blockIdx.x % kBlocks * 256 + threadIdx.x;");
  write_tile(w);
  w.line("const Index mi = first_m + at / kN, ni = first_n + at % kN;");
  w.line("if (mi >= {} || ni >= {}) return;", product_.m().text(), product_.n().text());
  for (const AxisRun* run : {&product_.batch(), &result.row, &result.column}) run->write(e, w);
  w.line("{} total = 0;", type());
  w.line("for (Index part = first; part <= last; ++part)");
  w.line("  total += found[(part + shared) * (kM * kN) + at];");
  w.raw(text);
  w.raw(stores);
  return w.text();
}

void TileShare::write_finish(KernelBuilder& kernel) {
  if (!split_) return;
  Emitter e(region_, 1);
  product_.prepare(e);
  const std::string body = finish_body(e);
  finish_ = kernel.function(
      e, kernel.result() + ": what blocks found for parts of a tile, added up.",
      region_.name + "_finish", "typename Index", "256", body, parameters("const "));
}

std::vector<Launch> TileShare::launches(const DeviceFunction& product, const std::string& index,
                                        const std::string& packs,
                                        const std::string& threads) const {
  const std::string types = index + ", " + packs;
  if (!split_) return {product.launch(types, tiles(), threads)};
  return {product.launch(types, fmt::format("{} + {}", name("WHOLE"), name("BLOCKS")), threads),
          finish_->launch(index,
                          fmt::format("max(1, {}) * {} * {} / 256", name("REST"), name("TILE_M"),
                                      name("TILE_N")),
                          "256")};
}

}  // namespace kw::generate
