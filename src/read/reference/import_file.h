// Imports a foreign CUDA file as a kernel module. cuda_import follows its launcher; the reference
// or the user describes the tensors.
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
  std::string reference;                // file or task folder; "": none
  std::string function;                 // of the reference
  std::string launcher;                 // of the CUDA file; "": the only one
  std::vector<std::string> inputs;      // "x:fp16[B,D]", "rows=B", "eps=1e-5"
  std::map<std::string, int64_t> dims;  // of the reference
  bool zero_outputs = false;            // the launcher's caller clears them first
  std::string mode = {};                // of the reference: "eval" or ""
};

struct ImportReport {
  std::string file;    // its name in messages
  std::string source;  // the foreign text
  cuda_import::Imported result;
  std::vector<std::string> task_words;  // options verify and optimize need beside the reference
};

/// An Error if the file, the reference or an option cannot be read. Problems of the launcher are in
/// the report.
Result<ImportReport> import_module(const std::string& path, const ImportOptions& options);

/// All problems as text for users, with carets.
std::string problems_text(const ImportReport& report);
Json to_json(const ImportReport& report);

/// The text of a kernel module: the file itself if it is one, otherwise its import. An Error with
/// every problem if it cannot be imported. `notes` gets the assumptions of the import.
Result<std::string> read_kernel_text(const std::string& path, const ImportOptions& options,
                                     std::vector<std::string>* notes);

}  // namespace kw::reference
