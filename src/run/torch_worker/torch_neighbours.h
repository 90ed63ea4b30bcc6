// The Python files beside a reference that it imports. The torch process cannot read the user's
// files, so it gets the texts.
#pragma once

#include "core/json.h"
#include "torch_worker/torch_call.h"

namespace kw::torch_worker {

/// {"helper.py": text, "layers/__init__.py": text, …}: what the reference's import statements name
/// in its own folder, and what those files import. Links that leave the folder are left out.
Json imported_neighbours(const TorchSource& source);

}  // namespace kw::torch_worker
