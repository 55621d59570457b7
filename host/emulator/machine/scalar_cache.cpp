#include "scalar_cache.h"

#include "report.h"

#include <cstring>

namespace aivops::machine {

// Allocations begin and end at multiples of a line, so a whole one may always be read.
ScalarCache::Line& ScalarCache::line(Address gm) {
    auto [found, added] = lines_.try_emplace(gm / kLine);
    if (added) {
        std::memcpy(found->second.content.data(), reinterpret_cast<const void*>(gm / kLine * kLine), kLine);
        found->second.dirty = 0;
    }
    return found->second;
}

std::optional<std::string> ScalarCache::load(Address gm, uint32_t bytes) {
    for (Address at = gm; at < gm + bytes; ++at) {
        const Line& cached = line(at);
        const bool own = (cached.dirty >> at % kLine & 1) != 0;
        if (!own && cached.content[at % kLine] != *reinterpret_cast<const uint8_t*>(at)) {
            return "a stale line: " + describe_address(at) +
                   " has changed since the core's data cache took it, so hardware still gives the old value; call "
                   "DataCacheCleanAndInvalid before";
        }
    }
    return std::nullopt;
}

void ScalarCache::store(Address gm, const void* value, uint32_t bytes) {
    for (uint32_t byte = 0; byte < bytes; ++byte) {
        Line& cached = line(gm + byte);
        cached.content[(gm + byte) % kLine] = static_cast<const uint8_t*>(value)[byte];
        cached.dirty |= uint64_t{1} << (gm + byte) % kLine;
    }
}

std::optional<std::string> ScalarCache::copied(Address gm, uint64_t bytes) const {
    for (auto at = lines_.lower_bound(gm / kLine); at != lines_.end() && at->first * kLine < gm + bytes; ++at) {
        for (uint64_t byte = 0; byte < kLine; ++byte) {
            const Address address = at->first * kLine + byte;
            if (address >= gm && address < gm + bytes && (at->second.dirty >> byte & 1) != 0) {
                return "a copy past the data cache: the scalar unit has stored to " + describe_address(address) +
                       ", and the line is still in its cache; call DataCacheCleanAndInvalid before";
            }
        }
    }
    return std::nullopt;
}

} // namespace aivops::machine
