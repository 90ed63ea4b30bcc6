// A source cut by its kernels: each with what it needs of the rest, and nothing else. Candidates of
// a search share most of their kernels; compiled apart, a kernel costs its compile once, and those
// of one module keep several cores busy. What comes out is joined to one image again.
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
  std::vector<int> lines;       // the whole source's, by those of this; the first line's is at 0
  std::set<std::string> words;  // identifiers in it
};
using KernelTexts = std::map<std::string, KernelText>;  // by the kernel's name

/// Empty when the source must be compiled whole: it is so small that nothing is gained, or holds
/// something that kernels may share (variables) or that is not understood here.
KernelTexts kernel_texts(const std::string& source);

struct Slice {
  ports::CompileRequest request;  // one kernel of the source, in all instances asked for
  std::vector<int> lines;         // as in KernelText
};

/// `texts`: of the request's source. Empty when it must be compiled whole, or for one kernel only.
std::vector<Slice> slices_of(const ports::CompileRequest& request, const KernelTexts& texts);

/// The image of the whole from those of its slices: PTX as one text, cubins as a pack
/// (ports/image_pack.h), lines those of the source. Nothing when two of them define a name
/// differently or a text is not understood.
std::optional<ports::Compiled> joined(const ports::CompileRequest& whole,
                                      const std::vector<Slice>& slices,
                                      const std::vector<ports::Compiled>& parts);

}  // namespace kw::compile
