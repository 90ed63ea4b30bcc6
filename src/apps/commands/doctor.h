// `doctor`: what this machine has of all that kernelwright can use, what each missing tool costs,
// and how to install it. Changes nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "machine/probes.h"

namespace kw::commands {

/// Whether the provider of a model can be called, and where its key is; never the key itself.
struct ModelProvider {
  std::string name;
  bool ready = false, has_key = false;
  std::string note;
};

struct DoctorReport {
  std::vector<machine::Tool> tools;
  std::optional<ports::DeviceInfo> gpu;
  std::string compiler;                // the one that `run` will use; "" = none
  std::vector<std::string> looked_at;  // where compilers were searched
  std::string kernel;                  // of the operating system
  int cores = 0;
  uint64_t memory_bytes = 0;  // available now
  std::string cache_folder;
  std::vector<ModelProvider> models;
  std::string models_problem;  // no libcurl, a broken providers.toml; "" = none

  const machine::Tool* find(const std::string& name) const;
};

/// Examines everything; takes one or two seconds if there is a GPU.
DoctorReport examine();

Json to_json(const DoctorReport& report);

}  // namespace kw::commands
