// The modules of torch.nn as rows: the constructor's parameters, the weights and buffers, and the
// function that forward calls. The op rows define what that function computes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kw::frontend {

struct StateRow {
  const char* name;
  const char* shape;  // constructor arguments, comma-separated: "out_features,in_features";
                      // "a/b": divided, "4*a": multiplied, "a^2": an int or two of them
  const char* when = nullptr;  // constructor arguments that must be true: "a&b"; null: always
  bool buffer = false;
  bool positive = false;                        // a variance
  std::optional<double> filled = std::nullopt;  // its initial number; not set: random numbers
};

struct ModuleRow {
  const char* name;  // "Linear"
  const char* signature;
  std::vector<StateRow> state;
  const char* function;   // the op that forward calls: "F.linear"; "" returns the input
  const char* arguments;  // added to forward's: "weight=weight, eps=eps"; "training=training"
};

/// The row of torch.nn.NAME; null for an unknown name.
const ModuleRow* find_module(std::string_view name);
/// Every known module and container: for suggestions.
const std::vector<std::string>& module_names();
/// Whether it is Sequential, ModuleList, ModuleDict, ParameterList or ParameterDict.
bool is_module_container(std::string_view name);

// The tables, one per group of modules; nn_modules.cpp joins them.
const std::vector<ModuleRow>& window_modules();
const std::vector<ModuleRow>& loss_modules();

}  // namespace kw::frontend
