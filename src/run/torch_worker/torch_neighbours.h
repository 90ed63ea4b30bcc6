// Collects the Python files that a reference imports from its own folder. The torch process cannot
// read the user's files, so it gets their texts.
#pragma once

#include "core/json.h"
#include "torch_worker/torch_call.h"

namespace kw::torch_worker {

/// {"helper.py": text, "layers/__init__.py": text, …}: the files in the reference's folder that it
/// imports, and the files that those import. Links that leave the folder are skipped.
Json imported_neighbours(const TorchSource& source);

}  // namespace kw::torch_worker
