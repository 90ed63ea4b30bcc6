// What is wrong with a stored run: its files, and the journal of its evolution. The store cannot
// read that journal.
#pragma once

#include <string>
#include <vector>

#include "evolve/evolution_state.h"
#include "store/run.h"

namespace kw::workflows {

/// The state after the events of earlier sessions.
evolve::State evolved_so_far(const store::Run& run);

/// store::Run::damage(), then one line for each event of an evolution that does not follow those
/// before it. Reads all files.
std::vector<std::string> damage_of(const store::Run& run);

}  // namespace kw::workflows
