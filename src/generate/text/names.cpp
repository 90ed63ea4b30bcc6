#include "text/names.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/ascii.h"
#include "core/contains.h"
#include "kernel/plan_names.h"

namespace kw::generate {

namespace {

constexpr std::string_view kWords[] = {
    // declared by CUDA and its headers
    "half", "half2", "float2", "float4", "double2", "int2", "int4", "uint2", "uint4", "threadIdx",
    "blockIdx", "blockDim", "gridDim", "warpSize", "min", "max", "abs", "exp", "log", "sin", "cos",
    "tan", "sqrt", "pow", "floor", "ceil", "round", "trunc", "rint", "erf", "gamma", "y0", "y1",
    "j0", "j1", "jn", "yn", "main", "isnan", "isinf", "signbit", "clock", "printf", "assert",
    // used by the schedules
    "Index", "Pack", "WordOf", "lane", "item", "row", "column", "first", "count", "i", "u",
    "thread", "rows", "columns", "step", "own_row", "part", "parts", "share", "last", "other",
    "packs", "i0", "i1", "i2", "i3", "i4", "i5", "i6", "i7", "minor", "major", "member", "carry",
    "run", "runs", "upto", "total", "totals", "place", "places", "before", "below", "now", "start",
    "begin", "end", "turn", "warp", "joined", "sofar", "each", "best", "bests", "limit", "found",
    "pool", "items", "sorted", "blocks", "picked", "own", "chunk", "chunks", "tiles", "left",
    "right", "at", "batch", "results", "sums", "more", "mi", "ni", "ki", "element", "layer",
    "own_columns", "of_group", "outside", "fast", "tile", "mirror", "ticket", "tickets", "flags",
    "handed", "back", "steps", "flag", "whole", "b0", "b1", "b2", "b3", "b4", "b5", "b6", "b7",
    "m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7", "n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7",
    "k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7", "upper", "row2", "row3", "row4", "major2",
    "major3", "major4", "di", "fi", "queries_tile", "keys_tile", "values_tile", "tile_bytes",
    "slot", "own_m", "own_n", "tops", "stage", "shares", "dots", "dot", "outcome", "outcomes",
    "at_outer", "at_inner", "at_k", "per_sum", "to", "within", "room", "warp_m", "first_m",
    "first_f", "tiles_m", "reach", "limits", "steep", "pieces", "first_n", "tiles_n", "at_m",
    "at_n", "past", "rest", "is_part", "shared", "next", "many", "stop", "TilePlace", "tile_place",
    "per_dot", "load_left", "load_left_turned", "load_right", "load_right_turned", "keep_sums",
    "sum_place", "place_in"};

bool is_identifier(const std::string& name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  return std::ranges::all_of(name, [](char c) {
    return is_name_char(c);
  });
}

bool is_free(const std::string& name, const std::set<std::string>& taken) {
  return taken.count(name) == 0 && !contains(kWords, name) && kernel::reserved_name(name).empty() &&
         !kernel::is_cpp_word(name) && !name.starts_with("__");
}

}  // namespace

std::span<const std::string_view> reserved_words() { return kWords; }

std::string safe_name(const std::string& name, std::set<std::string>& taken) {
  std::string base = name;
  if (!is_identifier(base)) {
    for (char& c : base) {
      if (!is_identifier(std::string("a") + c)) c = '_';
    }
    base = is_identifier(base) ? base : "t" + base;
  }
  std::string free = base;
  for (int i = 0; !is_free(free, taken); ++i) {
    free = i == 0 ? base + "_" : fmt::format("{}_{}", base, i + 1);
  }
  taken.insert(free);
  return free;
}

}  // namespace kw::generate
