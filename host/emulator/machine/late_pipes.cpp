#include "late_pipes.h"

#include "access_check.h"
#include "copies.h"
#include "gm_access.h"
#include "kernel_run.h"
#include "report.h"
#include "schedule.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

namespace aivops::machine {
namespace {

constexpr uint32_t kUnit = 32; // bytes that a copy engine moves at once
constexpr uint32_t kWaysOfWaiting = 8;
constexpr Lane kPipes[] = {Lane::kVector, Lane::kLoad, Lane::kStore};

} // namespace

void LatePipes::start(const Dice& dice) {
    dice_ = dice;
    for (Queue& queue : queues_) {
        queue.clear();
    }
    for (uint32_t& eagerness : eagerness_) {
        eagerness = schedule().draw_eagerness(dice_);
    }
    working_.reset();
    polled_in_vain_ = false;
    visible_issues_ = 0;
}

void LatePipes::turn() {
    if (std::exchange(polled_in_vain_, false)) {
        schedule().put_back(block_);
        wait(BlockState::kPolling, [this] { return block_.run->sees_change(block_); });
        block_.polls_large = false;
    } else if (schedule().gives_way()) {
        give_way(block_, BlockState::kReady);
    }
    for (Lane lane : kPipes) {
        while (dice_.below(Schedule::kEager) < eagerness_[static_cast<size_t>(lane)] && can_go_on(lane, false)) {
            go_on(lane, false);
        }
    }
}

void LatePipes::note_vain_large_poll() {
    polled_in_vain_ = true;
    block_.polls_large = true;
    block_.writes_seen = schedule().writes();
}

void LatePipes::turn(const void* place) {
    turn();
    if (held(place)) {
        give_way(block_, BlockState::kHeld);
    }
}

bool LatePipes::held(const void* place) const {
    return schedule().sweeps() && schedule().holds(block_.run->number_of_place(place));
}

// The vector unit of the 2201 architecture needs a barrier between instructions that depend on each other; the copy
// engines start in order and do not finish so.
bool LatePipes::in_order(Lane lane) const {
    return lane == Lane::kVector && block_.npu_arch != 2201;
}

std::unique_ptr<LatePipes::Work> LatePipes::new_work(Kind kind, Lane lane, const void* place) const {
    auto work = std::make_unique<Work>();
    work->kind = kind;
    work->lane = lane;
    work->place = place;
    work->issue = block_.races->issue();
    work->visible_issues = visible_issues_;
    return work;
}

void LatePipes::copy(Lane lane, const AivEmuCopy& copy, const void* place) {
    if (lane == Lane::kStore) {
        ++visible_issues_;
    }
    std::unique_ptr<Work> work = new_work(Kind::kCopy, lane, place);
    work->held = held(place);
    work->copy = copy;
    work->small = is_small(copy);
    work->atomic = block_.atomic;
    work->atomic_type = block_.atomic_type;
    work->control = block_.registers[AIVOPS_EMU_REGISTER_CONTROL];
    queue(lane).push_back(std::move(work));
}

void LatePipes::compute(const AivEmuCompute& compute, const void* place) {
    std::unique_ptr<Work> work = new_work(Kind::kCompute, Lane::kVector, place);
    work->held = held(place);
    work->compute = compute;
    work->ranges.assign(compute.ranges, compute.ranges + compute.range_count);
    const auto* parameters = static_cast<const std::byte*>(compute.parameters);
    work->parameters.assign(parameters, parameters + compute.parameter_bytes);
    queue(Lane::kVector).push_back(std::move(work));
}

void LatePipes::queue_event(Kind kind, Lane lane, uint32_t source, uint32_t destination, uint32_t id,
                            const void* place) {
    std::unique_ptr<Work> work = new_work(kind, lane, place);
    work->source = source;
    work->destination = destination;
    work->id = id;
    queue(lane).push_back(std::move(work));
}

void LatePipes::set_flag(uint32_t source, uint32_t destination, uint32_t id) {
    const Lane lane = lane_of(source);
    if (lane == Lane::kScalar) {
        block_.races->set_flag(source, destination, id);
        return;
    }
    queue_event(Kind::kSetFlag, lane, source, destination, id, nullptr);
}

void LatePipes::wait_flag(uint32_t source, uint32_t destination, uint32_t id, const void* place) {
    const Lane lane = lane_of(destination);
    if (lane == Lane::kScalar) {
        while (!block_.races->flag_is_set(source, destination, id)) {
            if (!force(lane_of(source), 0)) {
                raise_never_set(block_, source, destination, id, "is never set", place);
            }
        }
        block_.races->wait_flag(source, destination, id);
        return;
    }
    queue_event(Kind::kWaitFlag, lane, source, destination, id, place);
}

void LatePipes::barrier(uint32_t pipe, const void* place) {
    if (pipe != AIVOPS_EMU_PIPE_ALL) {
        queue(lane_of(pipe)).push_back(new_work(Kind::kBarrier, lane_of(pipe), place));
        return;
    }
    while (finish_one()) {
    }
    for (const Queue& left : queues_) {
        if (!left.empty()) { // only a wait can be in the way
            const Work& wait = *left.front();
            raise_never_set(block_, wait.source, wait.destination, wait.id,
                            "is not set before the barrier at " + describe_place(place), wait.place);
        }
    }
    block_.races->barrier_all();
}

void LatePipes::finish(Lane lane) {
    while (force(lane, 0)) {
    }
}

void LatePipes::finish_at_end() {
    while (finish_one()) {
    }
}

// One piece of work of whichever pipe can go on; what is held back comes last. False when none can.
bool LatePipes::finish_one() {
    for (const bool even_held : {false, true}) {
        const uint64_t first = dice_.below(std::size(kPipes));
        for (size_t step = 0; step < std::size(kPipes); ++step) {
            const Lane lane = kPipes[(first + step) % std::size(kPipes)];
            if (!can_go_on(lane, even_held)) {
                continue;
            }
            if (even_held) {
                give_way(block_, BlockState::kHeld);
            } else if (schedule().gives_way()) {
                give_way(block_, BlockState::kReady);
            }
            go_on(lane, even_held);
            return true;
        }
    }
    return false;
}

size_t LatePipes::candidates(const Queue& queue, Lane lane) const {
    if (queue.empty() || is_fence(*queue.front()) || in_order(lane)) {
        return std::min<size_t>(queue.size(), 1);
    }
    const auto fence = std::find_if(queue.begin(), queue.end(), [](const auto& work) { return is_fence(*work); });
    return static_cast<size_t>(fence - queue.begin());
}

bool LatePipes::can_go_on(Lane lane, bool even_held) const {
    const Queue& works = queue(lane);
    if (works.empty()) {
        return false;
    }
    if (const Work& first = *works.front(); first.kind == Kind::kWaitFlag) {
        return block_.races->flag_is_set(first.source, first.destination, first.id);
    }
    const auto end = works.begin() + static_cast<std::ptrdiff_t>(candidates(works, lane));
    return even_held || std::any_of(works.begin(), end, [](const auto& work) { return !work->held; });
}

bool LatePipes::go_on() const {
    return std::any_of(std::begin(kPipes), std::end(kPipes), [this](Lane lane) {
        return (eagerness_[static_cast<size_t>(lane)] != 0 || schedule().desperate()) &&
               can_go_on(lane, schedule().desperate());
    });
}

// One piece of work that can be done, whichever the dice say.
void LatePipes::go_on(Lane lane, bool even_held) {
    const size_t count = candidates(queue(lane), lane);
    size_t index = dice_.one_in(2) ? 0 : dice_.below(count);
    while (queue(lane)[index]->held && !even_held) {
        index = (index + 1) % count;
    }
    do_work(lane, index);
}

bool LatePipes::work_while_waiting() {
    const bool even_held = schedule().desperate();
    for (Lane lane : kPipes) {
        if ((eagerness_[static_cast<size_t>(lane)] != 0 || even_held) && can_go_on(lane, even_held)) {
            go_on(lane, even_held);
            return true;
        }
    }
    return false;
}

// Does the next work of a pipe because something waits for it, and first what that waits for itself. False when there
// is no such work.
bool LatePipes::force(Lane lane, uint32_t depth) {
    if (queue(lane).empty() || depth == kWaysOfWaiting) {
        return false;
    }
    const Work& next = *queue(lane).front();
    if (next.kind == Kind::kWaitFlag && !block_.races->flag_is_set(next.source, next.destination, next.id)) {
        if (!force(lane_of(next.source), depth + 1)) {
            raise_never_set(block_, next.source, next.destination, next.id, "is never set", next.place);
        }
        return true;
    }
    if (next.held) {
        give_way(block_, BlockState::kHeld);
    } else if (schedule().gives_way()) {
        give_way(block_, BlockState::kReady);
    }
    do_work(lane, 0);
    return true;
}

// A copy may be seen half done.
bool LatePipes::split(Work& work, Work& first) {
    const AivEmuCopy& copy = work.copy;
    const bool padded = copy.pad_left != 0 || copy.pad_right != 0 || copy.direction == AIVOPS_EMU_UB_TO_UB;
    if (work.kind != Kind::kCopy || padded || copy.block_count != 1 || copy.block_bytes <= 2 * kUnit ||
        (work.small && copy.direction == AIVOPS_EMU_GM_TO_UB) || !dice_.one_in(2)) {
        return false;
    }
    first = work;
    const uint32_t cut = kUnit * static_cast<uint32_t>(1 + dice_.below((copy.block_bytes - 1) / kUnit));
    AivEmuCopy low = copy;
    AivEmuCopy high = copy;
    low.block_bytes = cut;
    high.block_bytes -= cut;
    high.gm += cut;
    high.ub += cut;
    if (copy.direction == AIVOPS_EMU_GM_TO_UB && copy.pad_defined == 2 && copy.block_bytes % kUnit != 0) {
        high.pad_defined = 1; // behind its end comes the first element of the whole
        read_gm(block_, &high.pad_value, copy.gm, copy.element_bytes);
    }
    const bool up = dice_.one_in(2);
    first.copy = up ? low : high;
    work.copy = up ? high : low;
    return true;
}

void LatePipes::do_work(Lane lane, size_t index) {
    Queue& works = queue(lane);
    auto part = std::make_unique<Work>();
    if (split(*works[index], *part)) {
        working_ = std::move(part);
    } else {
        working_ = std::move(works[index]);
        works.erase(works.begin() + static_cast<std::ptrdiff_t>(index));
    }
    do_now(*working_);
    working_.reset();
}

void LatePipes::do_now(const Work& work) {
    BlockRaces& races = *block_.races;
    switch (work.kind) {
    case Kind::kSetFlag:
        races.set_flag(work.source, work.destination, work.id);
        return;
    case Kind::kWaitFlag:
        races.wait_flag(work.source, work.destination, work.id);
        return;
    case Kind::kBarrier:
        races.barrier(work.lane);
        return;
    case Kind::kCopy: {
        races.begin(work.lane, work.issue);
        const uint32_t atomic = std::exchange(block_.atomic, work.atomic);
        const uint32_t type = std::exchange(block_.atomic_type, work.atomic_type);
        uint64_t& register_now = block_.registers[AIVOPS_EMU_REGISTER_CONTROL];
        const uint64_t control = std::exchange(register_now, work.control);
        copy_now(block_, work.copy, work.small, work.place);
        block_.atomic = atomic;
        block_.atomic_type = type;
        register_now = control;
        return;
    }
    case Kind::kCompute: {
        races.begin(work.lane, work.issue);
        for (const AivEmuRange& range : work.ranges) {
            if (range.write != 0 && !in_order(work.lane)) {
                check_races(block_,
                            races.ub_overtakes(work.lane, range.ub, range.bytes, work.compute.name, work.place));
            }
        }
        for (const AivEmuRange& range : work.ranges) {
            track_ub(block_, work.lane, work.compute.name, range.ub, range.bytes, range.write != 0, work.place);
        }
        InCopy faults(block_);
        work.compute.execute(block_.ub, work.parameters.data());
        return;
    }
    }
}

} // namespace aivops::machine
