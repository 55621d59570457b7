#include "polling_places.h"

#include <cstdint>
#include <dlfcn.h>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

namespace aivops::machine {
namespace {

// Each device has a copy of a binary, so a place is known by its function.
using Place = std::pair<std::string, uint64_t>;

Place place_of(const void* instruction) {
    Dl_info info;
    if (dladdr(instruction, &info) == 0 || info.dli_sname == nullptr) {
        return {"", reinterpret_cast<uint64_t>(instruction)};
    }
    return {info.dli_sname, reinterpret_cast<uint64_t>(instruction) - reinterpret_cast<uint64_t>(info.dli_saddr)};
}

struct PollingPlaces {
    std::mutex mutex;
    std::unordered_map<const void*, Place> known;
    std::set<Place> polling;

    const Place& at(const void* instruction) {
        auto [found, added] = known.try_emplace(instruction);
        if (added) {
            found->second = place_of(instruction);
        }
        return found->second;
    }
};

PollingPlaces& places() {
    static PollingPlaces& instance = *new PollingPlaces;
    return instance;
}

} // namespace

void note_polling_place(const void* place) {
    PollingPlaces& all = places();
    std::lock_guard lock(all.mutex);
    all.polling.insert(all.at(place));
}

bool is_polling_place(const void* place) {
    PollingPlaces& all = places();
    std::lock_guard lock(all.mutex);
    return all.polling.contains(all.at(place));
}

} // namespace aivops::machine
