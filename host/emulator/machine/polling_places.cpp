#include "polling_places.h"

#include "kernel_image.h"

#include <cstdint>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>

namespace aivops::machine {
namespace {

// Each device has a copy of a binary, and each rank may have loaded it: a place is known by the size of the file and
// its offset in there.
using Place = std::pair<uint64_t, uint64_t>;

Place place_of(const void* instruction) {
    const KernelImage::Position position = KernelImage::position_of(instruction);
    return position.file ? Place{position.file->bytes.size(), position.offset}
                         : Place{0, reinterpret_cast<uint64_t>(instruction)};
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
