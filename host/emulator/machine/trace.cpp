#include "trace.h"

#include "block.h"
#include "device.h"
#include "json_text.h"
#include "kernel_run.h"
#include "machine.h"
#include "settings.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <unistd.h>
#include <unordered_map>
#include <vector>

namespace aivops::machine {

std::atomic<bool> trace_state::on{false};

namespace {

constexpr size_t kMostEvents = 1 << 20; // 64 MiB of them; what comes later is counted only
constexpr uint32_t kNoBlock = UINT32_MAX;
constexpr uint32_t kNoOwner = UINT32_MAX;

struct Track {
    uint32_t device;
    uint32_t stream;
    uint32_t block; // kNoBlock: the stream's own

    // The stream's own track is above those of its blocks.
    std::tuple<uint32_t, uint32_t, uint32_t> order() const { return {device, stream, block + 1}; }
};

struct Event {
    Track track;
    uint32_t name; // index into the names
    const char* category;
    int64_t begin_ns;
    int64_t end_ns;
    uint64_t bytes = 0;
    uint32_t count = 0; // blocks of a launch, polls of a wait
    uint32_t owner = kNoOwner;
    bool write = false;
};

// Trace events count in microseconds.
std::string microseconds(int64_t ns) {
    char text[40];
    std::snprintf(text, sizeof text, "%lld.%03lld", static_cast<long long>(ns / 1000),
                  static_cast<long long>(ns % 1000));
    return text;
}

std::string arguments(const Event& event) {
    std::string text;
    const auto add = [&](const char* key, const std::string& value) {
        text += (text.empty() ? "\"" : ",\"") + std::string(key) + "\":" + value;
    };
    if (event.bytes != 0) {
        add("bytes", std::to_string(event.bytes));
    }
    if (event.count != 0) {
        add(event.owner == kNoOwner ? "blocks" : "polls", std::to_string(event.count));
    }
    if (event.owner != kNoOwner) {
        add("device", std::to_string(event.owner));
        add("direction", event.write ? "\"write\"" : "\"read\"");
    }
    return text;
}

class Recorder {
  public:
    Recorder() : process_(getpid()) {
        path_ = settings().trace + "/" + std::to_string(process_) + "-" + std::to_string(now_ns());
        // Until it becomes the finished file it says that this process has a timeline to come.
        if (std::FILE* file = std::fopen(unfinished().c_str(), "w")) {
            std::fclose(file);
        } else {
            complain();
        }
        std::atexit([] { recorder().write(); });
    }

    static Recorder& recorder() {
        static Recorder& instance = *new Recorder; // workers may still record while the process ends
        return instance;
    }

    void stream_made() { streams_.fetch_add(1); }
    void stream_gone() {
        if (streams_.fetch_sub(1) == 1) {
            write();
        }
    }

    void record(Event event, const std::string& name) {
        std::lock_guard lock(mutex_);
        if (events_.size() == kMostEvents) {
            ++dropped_;
            return;
        }
        const auto [entry, added] = indices_.try_emplace(name, static_cast<uint32_t>(names_.size()));
        if (added) {
            names_.push_back(name);
        }
        event.name = entry->second;
        events_.push_back(event);
    }

    /// Writes all that was recorded so far, in place of what was written before.
    void write() {
        if (getpid() != process_) {
            return; // a forked child: the timeline is its parent's
        }
        std::lock_guard lock(mutex_);
        std::FILE* file = std::fopen(unfinished().c_str(), "w");
        if (file == nullptr) {
            return complain();
        }
        write_events(file);
        const bool failed = std::ferror(file) != 0;
        if (std::fclose(file) != 0 || failed || std::rename(unfinished().c_str(), (path_ + ".json").c_str()) != 0) {
            complain();
        }
    }

  private:
    std::string unfinished() const { return path_ + ".part"; }

    void complain() const {
        std::fprintf(stderr, "aivops emulator: warning: %s: the trace cannot be written: %s\n", unfinished().c_str(),
                     std::strerror(errno));
    }

    void write_events(std::FILE* file) {
        std::sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) {
            return std::tuple(a.track.order(), a.begin_ns, -a.end_ns) <
                   std::tuple(b.track.order(), b.begin_ns, -b.end_ns);
        });
        const char* rank = std::getenv("RANK");
        std::fprintf(file, "{\"otherData\":{\"process\":%d,\"rank\":%s,\"dropped\":%llu},\n\"traceEvents\":[\n",
                     process_, json_string(rank != nullptr ? rank : "").c_str(),
                     static_cast<unsigned long long>(dropped_));
        int thread = 0;
        const Event* previous = nullptr;
        for (const Event& event : events_) {
            if (previous == nullptr || previous->track.order() != event.track.order()) {
                ++thread;
                write_names(file, event.track, thread, previous);
            }
            std::fprintf(file,
                         ",\n{\"ph\":\"X\",\"pid\":%u,\"tid\":%d,\"ts\":%s,\"dur\":%s,\"cat\":\"%s\",\"name\":%s,"
                         "\"args\":{%s}}",
                         event.track.device, thread, microseconds(event.begin_ns).c_str(),
                         microseconds(event.end_ns - event.begin_ns).c_str(), event.category,
                         json_string(names_[event.name]).c_str(), arguments(event).c_str());
            previous = &event;
        }
        std::fprintf(file, "\n]}\n");
    }

    // Metadata events: what the viewer calls a device and a track, and where it puts the track.
    static void write_names(std::FILE* file, const Track& track, int thread, const Event* previous) {
        const char* comma = previous == nullptr ? "" : ",\n";
        if (previous == nullptr || previous->track.device != track.device) {
            std::fprintf(file,
                         "%s{\"ph\":\"M\",\"pid\":%u,\"name\":\"process_name\",\"args\":{\"name\":\"device %u\"}}",
                         comma, track.device, track.device);
            comma = ",\n";
        }
        std::string name = "stream " + std::to_string(track.stream);
        if (track.block != kNoBlock) {
            name += ", block " + std::to_string(track.block);
        }
        std::fprintf(file,
                     "%s{\"ph\":\"M\",\"pid\":%u,\"tid\":%d,\"name\":\"thread_name\",\"args\":{\"name\":\"%s\"}},\n"
                     "{\"ph\":\"M\",\"pid\":%u,\"tid\":%d,\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%d}}",
                     comma, track.device, thread, name.c_str(), track.device, thread, thread);
    }

    const pid_t process_;
    std::string path_;
    std::atomic<uint32_t> streams_{0};
    std::mutex mutex_;
    std::vector<Event> events_;
    std::vector<std::string> names_; // kept here: binaries may be gone when they are written
    std::unordered_map<std::string, uint32_t> indices_;
    uint64_t dropped_ = 0;
};

Event block_event(const Block& block, const char* category, int64_t begin_ns, int64_t end_ns) {
    return {{block.device->index(), block.run->stream(), block.index}, 0, category, begin_ns, end_ns};
}

void end_polling(Block& block) {
    const PollSpan span = block.polling;
    if (span.polls == 0) {
        return;
    }
    block.polling = {};
    Event event = block_event(block, "wait", span.begin_ns, span.end_ns);
    event.bytes = span.bytes;
    event.count = span.polls;
    event.owner = span.owner;
    Recorder::recorder().record(event, "poll");
}

} // namespace

void trace_stream_made() {
    if (!settings().trace.empty()) {
        Recorder::recorder().stream_made();
        trace_state::on.store(true, std::memory_order_relaxed);
    }
}

void trace_stream_gone() {
    if (tracing()) {
        Recorder::recorder().stream_gone();
    }
}

void trace_task(uint32_t device, uint32_t stream, const Activity& activity, int64_t begin_ns) {
    Event event{{device, stream, kNoBlock}, 0, activity.category, begin_ns, now_ns()};
    event.bytes = activity.bytes;
    event.count = activity.blocks;
    Recorder::recorder().record(event, activity.name);
}

void trace_block_end(Block& block) {
    end_polling(block);
    Recorder::recorder().record(block_event(block, "block", block.began_ns, now_ns()), block.run->name());
}

void trace_copy(Block& block, const char* instruction, bool write, uint32_t owner, uint64_t bytes, int64_t begin_ns) {
    end_polling(block);
    Event event = block_event(block, "copy", begin_ns, now_ns());
    event.bytes = bytes;
    event.owner = owner;
    event.write = write;
    Recorder::recorder().record(event, instruction);
}

void trace_poll(Block& block, uint32_t owner, uint64_t bytes, int64_t begin_ns) {
    PollSpan& span = block.polling;
    if (span.polls++ == 0) {
        span.begin_ns = begin_ns;
    }
    span.end_ns = now_ns();
    span.bytes += bytes;
    span.owner = owner;
}

void trace_barrier(Block& block, const char* name, int64_t begin_ns) {
    end_polling(block);
    Recorder::recorder().record(block_event(block, "barrier", begin_ns, now_ns()), name);
}

} // namespace aivops::machine
