#include "regions.h"

#include "exchange.h"

#include <aivops/window_layout.h>

#include <algorithm>
#include <cstring>

namespace aivops {
namespace {

// References that a region itself has to its allocation: its own and that of what shares it.
constexpr long kOwnReferences = 2;
constexpr uint32_t kNone = kMaxRegions;

// What ranks tell each other before the set changes. One bit per region in `used` and `unused`.
struct Notice {
    uint32_t number; // of the region that holds the array already; kNone
    uint64_t used;
    uint64_t unused; // nobody else holds it any more
};

std::vector<Notice> tell(Bootstrap& bootstrap, const std::function<Notice()>& prepare) {
    std::vector<Notice> notices;
    const std::vector<std::string> told = exchange(bootstrap, [&] {
        const Notice own = prepare();
        return std::string(reinterpret_cast<const char*>(&own), sizeof own);
    });
    for (const std::string& bytes : told) {
        std::memcpy(&notices.emplace_back(), bytes.data(), sizeof(Notice));
    }
    return notices;
}

} // namespace

Regions::Regions(const Window& window, uint32_t ranks) : window_(window.memory()), ranks_(ranks) {
    window_.slice(kRegionsOffset, kRegionsEnd - kRegionsOffset).fill(0);
}

Buffer Regions::add(Bootstrap& bootstrap, const Peers& peers, const std::function<Buffer()>& provide) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::optional<Buffer> array;
    const std::vector<Notice> notices = tell(bootstrap, [&] {
        window_.device().synchronize();
        array = provide();
        return Notice{find(*array).value_or(kNone), used(), unused()};
    });
    // Ranks that failed in the middle of an earlier change do not all have the same regions.
    uint64_t on_any = 0;
    uint64_t on_all = ~uint64_t{0};
    uint64_t wanted_by_none = ~uint64_t{0};
    for (const Notice& notice : notices) {
        on_any |= notice.used;
        on_all &= notice.used;
        wanted_by_none &= notice.unused;
    }
    drop(bootstrap, on_any & (~on_all | wanted_by_none));
    const uint32_t known = notices.front().number;
    if (known != kNone &&
        std::all_of(notices.begin(), notices.end(), [known](const Notice& notice) { return notice.number == known; })) {
        return *array;
    }
    const size_t number = std::find(regions_.begin(), regions_.end(), std::nullopt) - regions_.begin();
    if (number == kMaxRegions) {
        throw InvalidValueError("Communicator: " + std::to_string(kMaxRegions) +
                                " arrays are registered, and there is no room for another; drop or unregister one on "
                                "every rank");
    }
    SharedBuffer shared(bootstrap, peers, [&] { return array->whole(); });
    if (number == regions_.size()) {
        regions_.emplace_back();
    }
    regions_[number].emplace(Region{array->whole(), std::move(shared)});
    write(static_cast<uint32_t>(number));
    return *array;
}

void Regions::remove(Bootstrap& bootstrap, const Buffer& buffer) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const std::vector<Notice> notices = tell(bootstrap, [&] {
        window_.device().synchronize();
        const std::optional<uint32_t> number = find(buffer);
        if (!number) {
            throw InvalidValueError("Communicator: the " + buffer.describe() + " is not registered");
        }
        return Notice{*number, 0, 0};
    });
    const uint32_t number = notices.front().number;
    for (size_t rank = 0; rank < notices.size(); ++rank) {
        if (notices[rank].number != number) {
            throw InvalidValueError("Communicator: rank 0 unregisters array " + std::to_string(number) + " and rank " +
                                    std::to_string(rank) + " array " + std::to_string(notices[rank].number) +
                                    ", counted as they were registered; all ranks must unregister the same");
        }
    }
    drop(bootstrap, uint64_t{1} << number);
}

void Regions::clear(Bootstrap& bootstrap) {
    const std::lock_guard<std::mutex> lock(mutex_);
    uint64_t on_any = 0;
    for (const Notice& notice : tell(bootstrap, [this] { return Notice{kNone, used(), 0}; })) {
        on_any |= notice.used;
    }
    drop(bootstrap, on_any);
}

bool Regions::hold(const Buffer& array) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return array.bytes() == 0 || find(array).has_value();
}

std::optional<uint32_t> Regions::find(const Buffer& array) const {
    for (uint32_t number = 0; number < regions_.size(); ++number) {
        if (regions_[number] && regions_[number]->memory.shares_memory_with(array)) {
            return number;
        }
    }
    return std::nullopt;
}

uint64_t Regions::used() const {
    uint64_t bits = 0;
    for (uint32_t number = 0; number < regions_.size(); ++number) {
        bits |= uint64_t{regions_[number].has_value()} << number;
    }
    return bits;
}

uint64_t Regions::unused() const {
    uint64_t bits = 0;
    for (uint32_t number = 0; number < regions_.size(); ++number) {
        if (regions_[number] && regions_[number]->memory.references() == kOwnReferences) {
            bits |= uint64_t{1} << number;
        }
    }
    return bits;
}

void Regions::drop(Bootstrap& bootstrap, uint64_t numbers) {
    for (uint32_t number = 0; number < kMaxRegions; ++number) {
        if ((numbers >> number & 1) == 0) {
            continue;
        }
        if (number >= regions_.size() || !regions_[number]) {
            exchange(bootstrap, [] { return std::string(); }); // in step with the ranks that have it
            continue;
        }
        regions_[number]->shared.end(bootstrap);
        regions_[number].reset();
        while (!regions_.empty() && !regions_.back()) {
            regions_.pop_back();
        }
        write(number);
    }
}

// The number of those in use goes last: what lies behind it nobody reads.
void Regions::write(uint32_t number) const {
    const std::optional<Region> region = number < regions_.size() ? regions_[number] : std::nullopt;
    std::vector<uint64_t> own(kOwnRegionBytes / sizeof(uint64_t));
    std::vector<uint64_t> places(kMaxRanks);
    if (region) {
        own = {reinterpret_cast<uint64_t>(region->memory.pointer()), region->memory.bytes()};
        for (uint32_t rank = 0; rank < ranks_; ++rank) {
            places[rank] = reinterpret_cast<uint64_t>(region->shared.of(rank).pointer());
        }
    }
    const uint64_t used = regions_.size();
    window_.slice(kOwnRegionsOffset + number * kOwnRegionBytes, kOwnRegionBytes)
        .copy_from_host(own.data(), kOwnRegionBytes);
    const uint64_t row = kMaxRanks * kPeerRegionBytes;
    window_.slice(kPeerRegionsOffset + number * row, row).copy_from_host(places.data(), row);
    window_.slice(kRegionsOffset, sizeof used).copy_from_host(&used, sizeof used);
}

} // namespace aivops
