// Processes that leave the group they were started in and outlive whoever started them.
#pragma once

namespace kw::os {

/// From now on such processes become children of ours instead of the system's.
void adopt_strays();
/// Ends all that were adopted; how many there were.
int end_strays();

}  // namespace kw::os
