#include "truth_gpu/gpu_loops.h"

#include <fmt/core.h>

namespace kw::truth_gpu {

using graph::Node;

namespace {

std::string walk(int64_t count, const std::string& body, const char* name = "which") {
  return fmt::format(
      "  for (Int {3} = (Int)blockIdx.x * {0} + threadIdx.x; {3} < {1};\n"
      "       {3} += (Int)gridDim.x * {0}) {{\n{2}  }}\n",
      kGpuBlockThreads, count, body, name);
}

// Puts element `p` in its own scope, so that names can be reused.
std::string element_scope(const std::string& position, const ElementText& x,
                          const std::string& use) {
  return fmt::format("    {{\n    const Int p = {};\n{}    {}\n    }}\n", position, x.lines, use);
}

// Assigns the element and its jump to y and j.
std::string taken_text(const ElementText& x) {
  return fmt::format("y = {};{}", x.name.value, x.jumps() ? " j = " + x.name.jump + ";" : "");
}

}  // namespace

std::string pad_loop(const Node& node, const truth::Extents& from, const ElementText& x,
                     const std::string& fill, const std::string& ending) {
  const truth::Extents to = graph::values_of(node.shape);
  std::string inside = "true", position = "0";
  int64_t inner = 1;
  std::string indices;
  for (size_t d = to.size(); d-- > 0; inner *= to[d]) {
    indices += fmt::format("    const Int i{} = which / {}LL % {}LL - {}LL;\n", d, inner, to[d],
                           node.attrs.starts[d].value());
    inside += fmt::format(" && i{0} >= 0 && i{0} < {1}", d, from[d]);
  }
  for (size_t d = 0; d < to.size(); ++d)
    position = fmt::format("({}) * {}LL + i{}", position, from[d], d);
  return walk(truth::count_of(to),
              indices + fmt::format("    {} y = {};\n", x.integer ? "Int" : "TrackedValue", fill) +
                  (x.jumps() ? "    Jump j = {0, 0};\n" : "") +
                  fmt::format("    if ({})\n", inside) + element_scope(position, x, taken_text(x)) +
                  ending);
}

std::string fold_loop(const Node& node, const truth::FoldLayout& layout, const ElementText& x,
                      const std::string& ending) {
  const std::string position =
      fmt::format("((k * {}LL + outer) * {}LL + ahead / {}) * {}LL + inner", layout.outer,
                  layout.windows, node.attrs.steps[0], layout.inner);
  const std::string body = fmt::format(
      "    const Int inner = which % {inner}LL, place = which / {inner}LL % {extent}LL;\n"
      "    const Int outer = which / {row}LL;\n"
      "    {sum} own;\n    own.start(fold);\n    FoldSpec here = fold;\n    here.count = 0;\n"
      "    for (Int k = 0; k < {inside}; ++k) {{\n"
      "    const Int ahead = place - k * {dilation}LL;\n"
      "    if (ahead < 0 || ahead % {stride} != 0 || ahead / {stride} >= {windows}) continue;\n"
      "    here.count += 1;\n{element}    }}\n"
      "    here.chain = fmin(here.count * kChainShare, kChainMost);\n{ending}",
      fmt::arg("inner", layout.inner), fmt::arg("extent", layout.extent),
      fmt::arg("row", layout.extent * layout.inner), fmt::arg("inside", layout.inside),
      fmt::arg("dilation", node.attrs.steps[1]), fmt::arg("stride", node.attrs.steps[0]),
      fmt::arg("windows", layout.windows), fmt::arg("sum", x.jumps() ? "JumpingSum" : "Sum"),
      fmt::arg("element", element_scope(position, x, fmt::format("own.add({}, fold);", x.given()))),
      fmt::arg("ending", ending));
  return walk(layout.outer * layout.extent * layout.inner, body);
}

std::string product_loop(const ProductExtents& e, const ElementText& left, const ElementText& right,
                         const std::string& ending) {
  const bool jumps = left.jumps() || right.jumps();
  const auto taken = [](const ElementText& from, const char* name) {
    std::string text = fmt::format("{} = {};", name, from.name.value);
    if (from.jumps()) text += fmt::format(" j{} = {};", name, from.name.jump);
    return text;
  };
  const std::string body = fmt::format(
      "    const Int column = which % {n}LL, row = which / {n}LL, batch = row / {m}LL;\n"
      "    {product} own;\n    own.start();\n"
      "    for (Int k = 0; k < {k}; ++k) {{\n    TrackedValue x, z;\n{none}{left}{right}"
      "    own.add({given}, product);\n    }}\n{ending}",
      fmt::arg("n", e.columns), fmt::arg("m", e.rows), fmt::arg("k", e.depth),
      fmt::arg("product", jumps ? "JumpingProduct" : "Product"),
      fmt::arg("none", jumps ? "    Jump jx = {0, 0}, jz = {0, 0};\n" : ""),
      fmt::arg("given", jumps ? "x, jx, z, jz" : "x, z"),
      fmt::arg("left",
               element_scope(fmt::format("row * {}LL + k", e.depth), left, taken(left, "x"))),
      fmt::arg("right",
               element_scope(fmt::format("(batch * {}LL + k) * {}LL + column", e.depth, e.columns),
                             right, taken(right, "z"))),
      fmt::arg("ending", ending));
  return walk(e.batches * e.rows * e.columns, body);
}

std::string pick_loop(int64_t count, const Picked& picked, const ElementText& index,
                      const ElementText& from, const std::string& ending) {
  const std::string jumps =
      index.jumps() ? fmt::format(" if (jumps({})) found |= kJumps;", index.name.jump) : "";
  const std::string body = fmt::format(
      "    Int begin, index;\n"
      "    {{\n    const Int p = which;\n    begin = {base};\n    index = {at};\n    }}\n{index}"
      "    if (index < 0 || index >= {extent}) found |= kMistake, index = 0;\n"
      "    {type} y;\n{jump}{from}{ending}",
      fmt::arg("base", picked.base), fmt::arg("at", picked.index_at),
      fmt::arg("index", element_scope("index", index,
                                      fmt::format("index = {};{}", index.name.value, jumps))),
      fmt::arg("extent", picked.extent), fmt::arg("type", from.integer ? "Int" : "TrackedValue"),
      fmt::arg("jump", from.jumps() ? "    Jump j;\n" : ""),
      fmt::arg("from", element_scope(fmt::format("begin + index * {}LL", picked.stride), from,
                                     taken_text(from))),
      fmt::arg("ending", ending));
  return walk(count, body);
}

std::string best_loop(int64_t lines, int64_t length, bool largest, const ElementText& x,
                      const std::string& ending) {
  const std::string jump = x.jumps() ? fmt::format("furthest({}) + ", x.name.jump) : "";
  const std::string use = fmt::format(
      "values[k] = {0}.t; reaches[k] = {1}kPathFactor * {0}.a + {0}.h;", x.name.value, jump);
  const std::string body = fmt::format(
      "    double values[{n}], reaches[{n}];\n"
      "    for (int k = 0; k < {n}; ++k)\n{element}"
      "    const Best best = best_of(values, reaches, {n}, {largest});\n{ending}",
      fmt::arg("n", length), fmt::arg("largest", largest),
      fmt::arg("element", element_scope(fmt::format("line * {} + k", length), x, use)),
      fmt::arg("ending", ending));
  return walk(lines, body, "line");
}

}  // namespace kw::truth_gpu
