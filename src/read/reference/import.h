// A foreign CUDA file becomes a kernel module: foreign/ follows its launcher, the reference or the
// user says what the tensors are.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "cuda_import/import.h"
#include "task/task.h"

namespace kw::reference {

struct ImportOptions {
  std::string reference;                // file or task folder; "" = none
  std::string function;                 // of the reference
  std::string launcher;                 // of the CUDA file; "" = the only one
  std::vector<std::string> inputs;      // "x:fp16[B,D]", "rows=B", "eps=1e-5"
  std::map<std::string, int64_t> dims;  // of the reference
  bool zero_outputs = false;            // whoever calls the launcher clears them first
};

struct ImportReport {
  std::string file;    // as messages name it
  std::string source;  // the foreign text
  cuda_import::Imported result;
  std::vector<std::string> task_words;  // what verify and optimize need beside the reference
};

/// Errors: the file, the reference or an option cannot be read. What the launcher cannot say is in
/// the report.
Result<ImportReport> import_module(const std::string& path, const ImportOptions& options);

/// All problems for people, with carets.
std::string problems_text(const ImportReport& report);
Json to_json(const ImportReport& report);

/// The text of a kernel module: the file itself when it is one, else what it imports to; an Error
/// with every problem otherwise. `notes` gets what import assumed.
Result<std::string> read_kernel_text(const std::string& path, const ImportOptions& options,
                                     std::vector<std::string>* notes);

}  // namespace kw::reference
