#include "knowledge.h"

#include "settings.h"
#include "soc.h"

#include <algorithm>
#include <utility>

namespace aivops::machine {

Knowledge nothing_known() {
    static const Knowledge nothing =
        std::make_shared<const std::vector<uint32_t>>(settings().devices * soc().vector_cores * kActorsPerCore, 0);
    return nothing;
}

Knowledge join(const Knowledge& left, const Knowledge& right) {
    if (left == right || !right) {
        return left;
    }
    if (!left) {
        return right;
    }
    uint32_t left_has_more = 0;
    uint32_t right_has_more = 0;
    for (size_t actor = 0; actor < left->size(); ++actor) {
        left_has_more |= (*left)[actor] > (*right)[actor];
        right_has_more |= (*right)[actor] > (*left)[actor];
    }
    if (right_has_more == 0) {
        return left;
    }
    if (left_has_more == 0) {
        return right;
    }
    Gathering joined;
    joined.add(left);
    joined.add(right);
    return joined.all();
}

void Gathering::add(const Knowledge& knowledge) {
    if (!knowledge || knowledge == all_ || knowledge == latest_) {
        return;
    }
    latest_ = knowledge;
    if (!all_) {
        all_ = knowledge;
        return;
    }
    std::vector<uint32_t>& all = growing();
    for (size_t actor = 0; actor < all.size(); ++actor) {
        all[actor] = std::max(all[actor], (*knowledge)[actor]);
    }
}

void Gathering::add(uint32_t first_actor, std::span<const uint32_t> epochs) {
    std::vector<uint32_t>& all = growing();
    for (const uint32_t epoch : epochs) {
        all[first_actor] = std::max(all[first_actor], epoch);
        ++first_actor;
    }
}

Knowledge Gathering::all() {
    if (growing_) {
        all_ = std::exchange(growing_, nullptr);
    }
    return all_;
}

std::vector<uint32_t>& Gathering::growing() {
    if (!growing_) {
        growing_ = std::make_shared<std::vector<uint32_t>>(all_ ? *all_ : *nothing_known());
    }
    return *growing_;
}

Ordering& host_ordering() {
    static Ordering& instance = *new Ordering;
    return instance;
}

} // namespace aivops::machine
