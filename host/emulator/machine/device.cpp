#include "device.h"

#include "containment.h"
#include "doorbell.h"
#include "machine.h"
#include "report_file.h"
#include "schedule.h"
#include "settings.h"
#include "soc.h"
#include "trace.h"
#include "unclaimed.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace aivops::machine {
namespace {

// How long the worker leaves new work to a thread that may be about to wait for it.
constexpr std::chrono::milliseconds kGrace{1};
// The same where pipes are late: a program does the same again only when its own threads do the work.
constexpr std::chrono::milliseconds kLateGrace{50};
constexpr int kIdleNaps = 20; // before it sleeps until it is woken

std::atomic<uint32_t> deferred_left{0}; // functions of all devices that have not run to their end
thread_local bool runs_deferred = false;

} // namespace

Device::Device(uint32_t index) : index_(index) {
    for (uint32_t core = 0; core < soc().vector_cores; ++core) {
        cores_.push_back(std::make_unique<Core>(*this, core));
        free_cores_.push_back(cores_.back().get());
    }
    std::reverse(free_cores_.begin(), free_cores_.end()); // taken from the back: low cores first
}

std::shared_ptr<Stream> Device::create_stream(std::shared_ptr<FailureDomain> domain) {
    static std::atomic<uint32_t> next_id{1};
    trace_stream_made();
    report_stream_made();
    watch_end_of_process();
    auto stream = std::make_shared<Stream>(index_, next_id.fetch_add(1), std::move(domain));
    std::lock_guard lock(streams_mutex_);
    streams_.push_back(stream);
    streams_version_.fetch_add(1);
    return stream;
}

std::vector<std::shared_ptr<Stream>> Device::streams() {
    std::lock_guard lock(streams_mutex_);
    return streams_;
}

void Device::remove_stream(const std::shared_ptr<Stream>& stream) {
    say_unclaimed(*stream);
    {
        std::lock_guard lock(streams_mutex_);
        std::erase(streams_, stream);
        streams_version_.fetch_add(1);
    }
    trace_stream_gone();
    report_stream_gone();
}

void Device::submit(Stream& stream, std::unique_ptr<Task> task) {
    {
        std::lock_guard lock(stream.mutex_);
        stream.tasks_.push_back(std::move(task));
        stream.submitted_.fetch_add(1, std::memory_order_release);
    }
    pending_.fetch_add(1, std::memory_order_acq_rel);
    doorbell().ring();
    start_worker();
    std::unique_lock lock(worker_mutex_);
    if (worker_asleep_) {
        worker_asleep_ = false;
        lock.unlock();
        worker_wakes_.notify_one();
    }
}

std::atomic<bool>& Device::engine() {
    // Where pipes are late all devices take turns on one engine: what one schedule does, the same seed does again.
    static std::atomic<bool> common{false};
    return settings().late ? common : engine_;
}

bool Device::take_engine() {
    if (engine().exchange(true, std::memory_order_acquire)) {
        return false;
    }
    engine_thread_.store(pthread_self(), std::memory_order_relaxed);
    prepare_thread_for_kernels();
    return true;
}

void Device::let_engine_go() {
    std::vector<std::function<void()>> deferred;
    deferred.swap(deferred_);
    engine().store(false, std::memory_order_release);
    for (const std::function<void()>& function : deferred) {
        const bool within_another = std::exchange(runs_deferred, true);
        function();
        runs_deferred = within_another;
        deferred_left.fetch_sub(1, std::memory_order_release);
        doorbell().ring();
    }
}

void Device::defer(std::function<void()> function) {
    deferred_left.fetch_add(1, std::memory_order_relaxed); // seen before the task that defers is seen to be done
    deferred_.push_back(std::move(function));
}

void Device::await_deferred() {
    Backoff backoff;
    for (uint32_t epoch = doorbell().read(); !runs_deferred && deferred_left.load(std::memory_order_acquire) != 0;
         epoch = doorbell().read()) {
        backoff.wait(epoch);
    }
}

bool Device::advance() {
    if (!take_engine()) {
        return false;
    }
    if (settings().late) {
        return advance_in_turn();
    }
    const bool progress = step_streams();
    let_engine_go();
    return progress;
}

// One step of whichever device the schedule says, the engine being this one's.
bool Device::advance_in_turn() {
    std::vector<std::function<void()>> taken;
    bool progress = false;
    for (const bool desperate : {false, true}) {
        schedule().set_desperate(desperate);
        for (const uint32_t index : schedule().devices_in_turn()) {
            if (Device& device = machine().device(index); !progress && device.has_work()) {
                device.engine_thread_.store(pthread_self(), std::memory_order_relaxed);
                progress = device.step_streams();
                std::move(device.deferred_.begin(), device.deferred_.end(), std::back_inserter(taken));
                device.deferred_.clear();
            }
        }
        if (progress) {
            break;
        }
    }
    deferred_ = std::move(taken);
    let_engine_go();
    return progress;
}

bool Device::step_streams() {
    if (uint32_t version = streams_version_.load(); version != stepping_version_) {
        std::lock_guard lock(streams_mutex_);
        stepping_ = streams_;
        stepping_version_ = version;
    }
    bool progress = false;
    for (const std::shared_ptr<Stream>& stream : stepping_) {
        while (Task* task = stream->front()) {
            if (stream->domain().stop_on_failure.load()) {
                std::unique_lock lock(stream->domain().mutex);
                if (stream->domain().stopped) {
                    lock.unlock();
                    drop(*stream);
                    progress = true;
                    break;
                }
            }
            if (tracing() && stream->front_began_ns_ == 0) {
                stream->front_began_ns_ = now_ns();
            }
            Task::Step step = task->step(*this);
            progress |= step != Task::Step::kIdle;
            if (step != Task::Step::kDone) {
                break;
            }
            finish_front(*stream, *task, task->failure());
        }
    }
    return progress;
}

void Device::finish_front(Stream& stream, Task& task, std::optional<Failure> failure) {
    if (stream.front_began_ns_ != 0) {
        trace_task(index_, stream.id(), task.activity(), stream.front_began_ns_);
        stream.front_began_ns_ = 0;
    }
    stream.finish_front(std::move(failure));
    pending_.fetch_sub(1, std::memory_order_acq_rel);
}

void Device::drop(Stream& stream) {
    while (Task* task = stream.front()) {
        task->abandon(*this);
        finish_front(stream, *task, std::nullopt);
    }
}

void Device::abort(Stream& stream) {
    Backoff backoff;
    while (!take_engine()) {
        // A kernel may never come back on its own.
        stop_running_.store(true);
        interrupt_running(*this);
        backoff.wait(doorbell().read());
    }
    stop_running_.store(false);
    drop(stream);
    let_engine_go();
}

void Device::while_still(const std::function<void()>& change) {
    Backoff backoff;
    while (!take_engine()) {
        backoff.wait(doorbell().read());
    }
    change();
    let_engine_go();
}

void Device::start_worker() {
    std::call_once(worker_started_, [this] { std::thread([this] { work(); }).detach(); });
}

void Device::work() {
    block_signals_of_the_process();
    int naps = 0;
    while (true) {
        {
            std::unique_lock lock(worker_mutex_);
            if (pending_.load() == 0 && ++naps > kIdleNaps) {
                worker_asleep_ = true;
                worker_wakes_.wait(lock, [this] { return !worker_asleep_; });
                naps = 0;
            }
            worker_wakes_.wait_for(lock, settings().late ? kLateGrace : kGrace);
        }
        Backoff backoff;
        while (drivers_.load() == 0 && has_work()) {
            naps = 0;
            const uint32_t epoch = doorbell().read();
            if (advance()) {
                backoff.reset();
            } else {
                backoff.wait(epoch);
            }
        }
    }
}

} // namespace aivops::machine
