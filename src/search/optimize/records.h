// What an iteration adds to the state: list entries, bans, history. Internal to optimize.
#pragma once

#include <string>
#include <vector>

#include "optimize/claims.h"
#include "optimize/classify.h"
#include "optimize/folder.h"

namespace kw::optimize {

/// Removes the hashes of the files that the open iteration was raced with.
void forget_inputs(State& state);

/// One method of a closed iteration.
struct MethodResult {
  std::string id;
  bool claimed = true;  // in methods.json; otherwise only in the kernel's own text
  Attribution attribution;
  profile::SassState seen = profile::SassState::Unknown;
  std::string seen_why;
  Classified classified;
};

/// Adds the entry to the list of its class, and a ban if the method failed.
void record_method(State& state, const Claims& claims, const MethodResult& result,
                   const std::string& context);

/// Adds the row of an iteration that gave no kernel to the history.
void record_no_kernel(State& state, const char* status,
                      const std::vector<std::string>& claimed = {});

/// After the last retry: adds history, methods and bans, and closes the iteration. The caller
/// commits.
Status record_failure(Folder& folder, const std::vector<std::string>& claimed);

}  // namespace kw::optimize
