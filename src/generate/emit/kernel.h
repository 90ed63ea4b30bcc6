// What a schedule makes of a region: device code and the plan lines that launch it. Plain values;
// module_text.cpp writes them out.
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
  std::string where;            // "" = all combinations
};

struct Method {
  std::string id, when, off;  // as the plan line has them; `off` may be ""
};

struct Scratch {
  std::string name;
  tensor::DType dtype = tensor::DType::Fp32;
  std::string extent;  // plan expression
  std::string fill;    // "", "= 0", "= 0 kept"
};

struct Launch {
  std::string kernel;  // "softmax<int, VEC>"
  std::string grid, block, shared;
  std::vector<std::string> args;
  std::string repeat = {};  // "pass in 0..PASSES"
};

/// Launches that are right wherever `when` holds.
struct Variant {
  std::string when;
  std::vector<Launch> launches;
};

struct Kernel {
  std::vector<Tune> tunes;
  std::vector<Method> methods;
  std::vector<std::pair<std::string, std::string>> lets;
  std::vector<Scratch> scratch;
  std::vector<Variant> variants;    // fastest first; the last one's `when` is "": it always holds
  std::string source;               // of the __global__ functions
  std::set<std::string> functions;  // device functions it calls: helpers.h, approx.h
};

/// Whether every position in the region's tensors fits a 32-bit int with room to spare, as a plan
/// condition: "B * D <= 2000000000".
std::string fits_int(const Region& region);

/// "a && b" without empty ones and repetitions.
std::string all_of(const std::vector<std::string>& conditions);

}  // namespace kw::generate
