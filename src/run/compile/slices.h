// Cuts a source by its kernels: each with only what it needs of the rest. Candidates of a search
// share most of their kernels. Compiled apart, a shared kernel is compiled once, and the kernels of
// one module use several cores. The results are joined to one image again.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ports/compiler.h"

namespace kw::compile {

/// A kernel with what it needs of its source.
struct KernelText {
  std::string source;
  std::vector<int> lines;       // lines of the whole source, by line here; the first is at 0
  std::set<std::string> words;  // identifiers in it
};
using KernelTexts = std::map<std::string, KernelText>;  // by the kernel's name

/// Empty when the source must be compiled whole: it is too small, it holds variables that kernels
/// may share, or a part of it is not understood here.
KernelTexts kernel_texts(const std::string& source);

struct Slice {
  ports::CompileRequest request;  // one kernel of the source, in all requested instances
  std::vector<int> lines;         // as in KernelText
};

/// `texts`: of the request's source. Empty when it must be compiled whole, or has only one kernel.
std::vector<Slice> slices_of(const ports::CompileRequest& request, const KernelTexts& texts);

/// Joins the images of the slices: PTX as one text, cubins as a pack (ports/image_pack.h), with the
/// lines of the source. Empty when two slices define a name differently or a text is not
/// understood.
std::optional<ports::Compiled> joined(const ports::CompileRequest& whole,
                                      const std::vector<Slice>& slices,
                                      const std::vector<ports::Compiled>& parts);

}  // namespace kw::compile
