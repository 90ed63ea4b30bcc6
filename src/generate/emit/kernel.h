// The output of a schedule for a region: device code and the plan lines that launch it. Plain
// values; module_text.cpp writes them.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "emit/emitter.h"

namespace kw::generate {

struct Tune {
  std::string name;
  std::vector<int64_t> values;  // best guess first
  std::string where;            // "": all combinations
};

struct Method {
  std::string id, when, off;  // texts of the plan line; `off` may be ""
};

struct Scratch {
  std::string name;
  DType dtype = DType::Fp32;
  std::string extent;  // plan expression
  std::string fill;    // "", "= 0", "= 0 kept"
};

struct Launch {
  std::string kernel;  // "softmax<int, VEC>"
  std::string grid, block, shared;
  std::vector<std::string> args;
  std::string repeat = {};  // "pass in 0..PASSES"
};

/// Launches that are correct if `when` holds.
struct Variant {
  std::string when;
  std::vector<Launch> launches;
};

struct Kernel {
  std::vector<Tune> tunes;
  std::vector<Method> methods;
  std::vector<std::pair<std::string, std::string>> lets;
  std::vector<Scratch> scratch;
  std::vector<Variant> variants;    // fastest first; the last one has `when` "": it always holds
  std::string source;               // text of the __global__ functions
  std::set<std::string> functions;  // device functions it calls: helpers.h, approx.h
  bool cut_short = false;           // an emitter gave up, so the source is not the whole program
};

/// The plan condition under which every position in the region's tensors fits a 32-bit int with a
/// margin: "B * D <= 2000000000".
std::string fits_int(const Region& region);

/// "a && b" without empty conditions and repetitions.
std::string all_of(const std::vector<std::string>& conditions);

}  // namespace kw::generate
