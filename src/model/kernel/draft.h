// A module while it is being parsed: what the lines said so far, and what is wrong. Used by the
// parser only.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "cuda_source/diagnostics.h"
#include "kernel/module.h"
#include "kernel/plan_lines.h"

namespace kw::kernel {

struct Draft {
  Module module;
  std::vector<cuda_source::Diagnostic> diagnostics;
  std::map<std::string, std::string> declared;  // name -> "input in line 3"
  std::set<std::string>
      broken_names;  // occur in lines that could not be read: say nothing more about them
  bool has_task = false;
  int open_repeat = -1;  // index into the last group's repeats
};

/// Adds what one line says to the draft, or reports why it cannot.
void read_plan_line(const PlanLine& line, Draft& draft);

/// Checks everything that needs the whole module: names, groups, methods, the order of a backward
/// task, kernels.
void check_module(const cuda_source::SourceText& source, size_t injection_offset, Draft& draft);

}  // namespace kw::kernel
