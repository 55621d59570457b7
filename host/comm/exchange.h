// One round among all ranks in which any of them may fail: those that did not still learn of it, and nobody waits for a
// rank that gave up.
#pragma once

#include "bootstrap.h"

#include <functional>
#include <string>
#include <vector>

namespace aivops {

/// Brings what `prepare` returns to all ranks and returns what all of them brought. When it throws on any rank this
/// throws on all of them: there what it threw, elsewhere PeerFailedError, which names the lowest such rank.
std::vector<std::string> exchange(Bootstrap& bootstrap, const std::function<std::string()>& prepare);

} // namespace aivops
