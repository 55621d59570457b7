#include "counters.h"

#include <cstring>

namespace aivops::machine {

void InstructionCounts::add(const char* name, uint64_t read_bytes, uint64_t written_bytes) {
    InstructionCount& count = of(name);
    count.issued.add(1);
    count.read_bytes.add(read_bytes);
    count.written_bytes.add(written_bytes);
}

// Names stay: somebody may read them.
void InstructionCounts::clear() {
    for (uint32_t index = 0; index < size_.load(std::memory_order_relaxed); ++index) {
        for (Count* count : {&counts_[index].issued, &counts_[index].read_bytes, &counts_[index].written_bytes}) {
            count->clear();
        }
    }
}

// By content: a name is a literal of the kernel's binary, and another binary may come to lie at its address.
InstructionCount& InstructionCounts::of(const char* name) {
    const uint32_t size = size_.load(std::memory_order_relaxed);
    const size_t longest = counts_[0].name.size() - 1;
    uint32_t& likely = likely_[reinterpret_cast<uintptr_t>(name) / sizeof(void*) % likely_.size()];
    if (likely < size && std::strncmp(counts_[likely].name.data(), name, longest) == 0) {
        return counts_[likely];
    }
    for (uint32_t index = 0; index < size; ++index) {
        if (std::strncmp(counts_[index].name.data(), name, longest) == 0) {
            likely = index;
            return counts_[index];
        }
    }
    if (size == kMost) {
        return counts_.back();
    }
    InstructionCount& added = counts_[size];
    std::strncpy(added.name.data(), size + 1 < kMost ? name : "others", longest);
    size_.store(size + 1, std::memory_order_release);
    return added;
}

} // namespace aivops::machine
