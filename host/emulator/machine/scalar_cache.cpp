#include "scalar_cache.h"

#include "report.h"

#include <algorithm>
#include <cstring>

namespace aivops::machine {
namespace {

// The bytes of a line that an access touches, one bit each.
uint64_t bits_of(Address line, Address gm, uint64_t bytes) {
    const Address begin = std::max(gm, line);
    const Address end = std::min(gm + bytes, line + ScalarCache::kLine);
    const uint64_t up_to = end - line == ScalarCache::kLine ? ~uint64_t{0} : (uint64_t{1} << (end - line)) - 1;
    return up_to & ~((uint64_t{1} << (begin - line)) - 1);
}

} // namespace

std::optional<Address> ScalarCache::stale(Address gm, uint64_t bytes) const {
    for (auto at = lines_.lower_bound(gm / kLine); at != lines_.end() && at->first * kLine < gm + bytes; ++at) {
        const Address line = at->first * kLine;
        const uint64_t clean = bits_of(line, gm, bytes) & ~at->second.dirty;
        for (uint64_t byte = 0; byte < kLine; ++byte) {
            if ((clean >> byte & 1) != 0 &&
                at->second.content[byte] != *reinterpret_cast<const uint8_t*>(line + byte)) {
                return line + byte;
            }
        }
    }
    return std::nullopt;
}

std::string ScalarCache::describe_stale(Address at) {
    return "a stale line: " + describe_address(at) +
           " has changed since the core's data cache took it, so hardware still has the old value; call "
           "DataCacheCleanAndInvalid before";
}

bool ScalarCache::find_once(Address gm, void* value, uint32_t bytes) {
    const auto line = lines_.find(gm / kLine);
    if (line == lines_.end() || gm % kLine + bytes > kLine || line->second.found_stale) {
        return false;
    }
    line->second.found_stale = true;
    std::memcpy(value, line->second.content.data() + gm % kLine, bytes);
    return true;
}

void ScalarCache::fill(Address line, const uint8_t* content) {
    std::copy_n(content, kLine, lines_[line / kLine].content.begin());
}

void ScalarCache::put(Address gm, const void* value, uint32_t bytes, bool dirty) {
    for (uint32_t byte = 0; byte < bytes; ++byte) {
        Line& line = lines_.at((gm + byte) / kLine);
        line.content[(gm + byte) % kLine] = static_cast<const uint8_t*>(value)[byte];
        line.dirty |= uint64_t{dirty} << (gm + byte) % kLine;
    }
}

std::optional<Address> ScalarCache::first_dirty(Address gm, uint64_t bytes, Reach reach) const {
    for (auto at = lines_.lower_bound(gm / kLine); at != lines_.end() && at->first * kLine < gm + bytes; ++at) {
        const Address line = at->first * kLine;
        const uint64_t reached = reach == Reach::kLines ? ~uint64_t{0} : bits_of(line, gm, bytes);
        if ((at->second.dirty & reached) != 0) {
            return std::max(gm, line);
        }
    }
    return std::nullopt;
}

std::optional<std::string> ScalarCache::missed_by_load(Address gm, uint64_t bytes) const {
    const std::optional<Address> dirty = first_dirty(gm, bytes, Reach::kBytes);
    return dirty
               ? std::optional("a read past the data cache: the scalar unit has stored to " + describe_address(*dirty) +
                               ", and the line is still in its cache; call DataCacheCleanAndInvalid before")
               : std::nullopt;
}

std::optional<std::string> ScalarCache::lost_under_line(Address gm, uint64_t bytes) const {
    const std::optional<Address> dirty = first_dirty(gm, bytes, Reach::kLines);
    return dirty ? std::optional("a write past the data cache: the scalar unit has stored to the line of " +
                                 describe_address(*dirty) +
                                 ", which is still in its cache and is written back over this some time; call "
                                 "DataCacheCleanAndInvalid before")
                 : std::nullopt;
}

std::vector<Address> ScalarCache::dirty_lines() const {
    std::vector<Address> dirty;
    for (const auto& [number, line] : lines_) {
        if (line.dirty != 0) {
            dirty.push_back(number * kLine);
        }
    }
    return dirty;
}

std::optional<Address> ScalarCache::dirty_from(Address gm) const {
    const auto found = lines_.find(gm / kLine);
    if (found == lines_.end()) {
        return std::nullopt;
    }
    const Address line = gm / kLine * kLine;
    const uint64_t cleaned = found->second.dirty & bits_of(line, gm, line + kLine - gm);
    if (cleaned == 0) {
        return std::nullopt;
    }
    return cleaned == found->second.dirty ? line : gm;
}

void ScalarCache::clean_and_invalidate(Address gm) {
    const auto found = lines_.find(gm / kLine);
    if (found == lines_.end()) {
        return;
    }
    const Address line = gm / kLine * kLine;
    found->second.dirty &= ~bits_of(line, gm, line + kLine - gm);
    if (found->second.dirty == 0) {
        lines_.erase(found);
    } else {
        std::memcpy(found->second.content.data() + gm % kLine, reinterpret_cast<const void*>(gm), kLine - gm % kLine);
    }
}

} // namespace aivops::machine
