// A module during parsing: the declarations read so far, and the problems. Used by the parser only.
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
  std::set<std::string> broken_names;  // occur in lines that could not be read: not reported again
  bool has_task = false;
  int open_repeat = -1;  // index into the last group's repeats
};

/// Adds the declaration of one line to the draft, or reports its problem.
void read_plan_line(const PlanLine& line, Draft& draft);

/// Checks what needs the whole module: names, groups, methods, the order of a backward task,
/// kernels.
void check_module(const cuda_source::SourceText& source, size_t injection_offset, Draft& draft);

}  // namespace kw::kernel
