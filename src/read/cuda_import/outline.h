// Lists the top-level declarations of a CUDA source file with their places: kernels, functions,
// constants. Import needs this to keep the device code and to follow the host code.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cuda_import/types.h"
#include "cuda_source/tokens.h"

namespace kw::cuda_import {

struct Item {
  enum class Kind : uint8_t {
    Kernel,
    Device,     // a function for the device, possibly also for the host
    Host,       // a function for the host only
    Prototype,  // a declaration of a host function
    Variable,
    Type,  // struct, enum, using, typedef
    Other,
  } kind = Kind::Other;
  std::string name;            // with its namespaces
  size_t first = 0, last = 0;  // range of tokens
  size_t parameters_first = 0, parameters_last = 0;
  size_t body_first = 0, body_last = 0;  // inside the braces; for a variable: its initializer
  std::optional<size_t> linkage;         // the token 'extern' of its own 'extern "C"'
  bool c_linkage = false;
  bool is_constexpr = false, on_device = false;
  std::vector<std::string> template_parameters;  // names, in order
  std::vector<CType> template_types;             // of the same; "" for a type
};

struct Outline {
  std::vector<Item> items;
  std::vector<size_t> linkage_tokens;  // tokens of 'extern "C" {' and its '}'
};

Outline outline(const std::vector<cuda_source::Token>& tokens);

/// Aliases at file level: using half_t = __half; typedef float real;
TypeNames type_names(const std::vector<cuda_source::Token>& tokens, const Outline& outline);

/// An alias that means two things becomes a type that is not known.
void add_type_name(TypeNames& names, const std::string& name, const CType& type);

/// The names of all classes that the file defines, also inside functions.
std::set<std::string> class_names(const std::vector<cuda_source::Token>& tokens);
std::set<std::string> enum_names(const std::vector<cuda_source::Token>& tokens);

}  // namespace kw::cuda_import
