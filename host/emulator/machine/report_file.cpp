#include "report_file.h"

#include "json_text.h"
#include "machine.h"
#include "race_check.h"
#include "schedule.h"
#include "settings.h"
#include "unclaimed.h"

#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <set>
#include <unistd.h>

namespace aivops::machine {
namespace {

class JsonObject {
  public:
    void add(const char* key, const std::string& json) {
        text_ += (text_.empty() ? "\"" : ",\"") + std::string(key) + "\":" + json;
    }
    void add(const char* key, uint64_t number) { add(key, std::to_string(number)); }
    std::string text() const { return '{' + text_ + '}'; }

  private:
    std::string text_;
};

// What a line of the file begins with.
JsonObject record_of(const char* kind) {
    JsonObject record;
    record.add("record", json_string(kind));
    return record;
}

std::string place_json(const void* instruction) {
    const Place place = locate(instruction);
    JsonObject object;
    object.add("function", json_string(place.function));
    object.add("offset", place.offset);
    if (const size_t colon = place.line.rfind(':'); colon != std::string::npos) {
        object.add("file", json_string(place.line.substr(0, colon)));
        object.add("line", place.line.substr(colon + 1));
    }
    return object.text();
}

std::string access_json(const Access& access) {
    JsonObject object;
    object.add("kernel", json_string(access.origin->kernel));
    object.add("device", access.origin->device);
    object.add("block", access.origin->block);
    object.add("access", json_string(access.name));
    if (access.place != nullptr) {
        object.add("place", place_json(access.place));
    }
    return object.text();
}

void add_scene(JsonObject& record, const Scene& scene) {
    record.add("kernel", json_string(scene.kernel));
    record.add("device", scene.device);
    record.add("launch", scene.launch);
    if (scene.blocks != 0) {
        record.add("block", scene.block);
        record.add("blocks", scene.blocks);
    }
}

// For telling messages apart that have no place in a kernel: addresses and counts differ from one to the next.
std::string without_numbers(const std::string& message) {
    std::string text;
    for (const char character : message) {
        if (std::isxdigit(static_cast<unsigned char>(character)) == 0) {
            text += character;
        }
    }
    return text;
}

uint64_t seed() {
    return settings().late ? schedule().seed() : settings().seed;
}

const char* rank_of_process() {
    for (const char* variable : {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK"}) {
        if (const char* rank = std::getenv(variable); rank != nullptr && *rank != '\0') {
            return rank;
        }
    }
    return "";
}

const char* check_name(Check check) {
    return check == Check::kOff ? "off" : check == Check::kOn ? "on" : "strict";
}

class ReportFile {
  public:
    static ReportFile& of_this_process() {
        static ReportFile& instance = *new ReportFile; // workers may still report while the process ends
        return instance;
    }

    void stream_made() {
        streams_.fetch_add(1);
        begin();
    }
    void stream_gone() {
        if (streams_.fetch_sub(1) == 1) {
            finish();
        }
    }

    // The number is written whenever it has doubled, so that a process that is killed leaves most of it.
    void launch(uint32_t device) {
        devices_.fetch_or(uint64_t{1} << device);
        const uint64_t count = launches_.fetch_add(1) + 1;
        if ((count & (count - 1)) == 0) {
            JsonObject record = record_of("launches");
            record.add("launches", count);
            append(record);
        }
    }

    void finding(Severity severity, const Finding& finding, const Scene* scene) {
        const std::string place = finding.place != nullptr ? place_json(finding.place) : "";
        const std::string other = finding.other != nullptr ? access_json(*finding.other) : "";
        {
            std::lock_guard lock(mutex_);
            const std::string kernel = scene != nullptr ? scene->kernel : "";
            // The place of the other access alone: who made it differs from block to block.
            const std::string first = finding.other != nullptr ? describe_place(finding.other->place) : "";
            const std::string key = std::to_string(seed()) + '\n' + finding.category + '\n' + kernel + '\n' + place +
                                    '\n' + first + '\n' + (place.empty() ? without_numbers(finding.message) : "");
            if (!seen_.insert(key).second) {
                return;
            }
        }
        JsonObject record = record_of("finding");
        record.add("severity", json_string(severity == Severity::kError ? "error" : "warning"));
        record.add("category", json_string(finding.category));
        record.add("code", static_cast<uint64_t>(finding.code));
        record.add("message", json_string(finding.message));
        record.add("seed", seed());
        if (scene != nullptr) {
            add_scene(record, *scene);
        }
        if (!place.empty()) {
            record.add("place", place);
        }
        if (!other.empty()) {
            record.add("other", other);
        }
        append(record);
    }

    void unwatched() {
        if (!unwatched_.load(std::memory_order_relaxed) && !unwatched_.exchange(true)) {
            append(record_of("unwatched"));
        }
    }

    void append(const JsonObject& record) {
        // Opened each time: a forked child gets a file of its own, and nothing is ever left unwritten.
        const std::string path = settings().report + "/" + std::to_string(getpid()) + ".jsonl";
        // A line that another failed to finish ends where this one begins.
        const std::string line = "\n" + record.text() + "\n";
        const int file = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
        errno = file >= 0 ? 0 : errno;
        const bool written = file >= 0 && write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
        if (!written && lost_.fetch_add(1) == 0) {
            std::fprintf(stderr, "aivops emulator: warning: %s: the report cannot be written: %s\n", path.c_str(),
                         errno != 0 ? std::strerror(errno) : "no space");
        }
        if (file >= 0) {
            close(file);
        }
    }

  private:
    ReportFile() : process_(getpid()) {
        std::atexit([] { of_this_process().finish(); });
    }

    void begin() {
        if (begun_.exchange(true)) {
            return;
        }
        JsonObject record = record_of("process");
        record.add("process", static_cast<uint64_t>(process_));
        record.add("rank", json_string(rank_of_process()));
        record.add("check", json_string(check_name(settings().check)));
        record.add("seed", settings().seed);
        append(record);
    }

    void finish() {
        if (getpid() != process_) {
            return; // a forked child: it is not the one that used devices
        }
        JsonObject record = record_of("end");
        record.add("launches", launches_.load());
        record.add("unfinished", unfinished_launches());
        record.add("lost", lost_.load());
        if (settings().late) {
            record.add("devices", list_of_devices());
            record.add("all_devices", settings().devices);
            record.add("instructions", schedule().places());
        }
        append(record);
    }

    // Those that launched something.
    std::string list_of_devices() const {
        std::string list;
        for (uint32_t device = 0; device < settings().devices; ++device) {
            if ((devices_.load() >> device & 1) != 0) {
                list += (list.empty() ? "" : ",") + std::to_string(device);
            }
        }
        return '[' + list + ']';
    }

    const pid_t process_;
    std::atomic<bool> begun_{false};
    std::atomic<bool> unwatched_{false};
    std::atomic<uint32_t> streams_{0};
    std::atomic<uint64_t> launches_{0};
    std::atomic<uint64_t> lost_{0};
    std::atomic<uint64_t> devices_{0}; // a bit each
    std::mutex mutex_;
    std::set<std::string> seen_;
};

bool wanted() {
    return !settings().report.empty();
}

} // namespace

void report_stream_made() {
    if (wanted()) {
        ReportFile::of_this_process().stream_made();
    }
}

void report_stream_gone() {
    if (wanted()) {
        ReportFile::of_this_process().stream_gone();
    }
}

void report_launch(uint32_t device) {
    if (wanted()) {
        ReportFile::of_this_process().launch(device);
    }
}

void report_finding(Severity severity, const Finding& finding, const Scene* scene) {
    if (wanted()) {
        ReportFile::of_this_process().finding(severity, finding, scene);
    }
}

void report_unwatched() {
    if (wanted()) {
        ReportFile::of_this_process().unwatched();
    }
}

void report_waiting(const Scene& scene, int64_t stalled_ns, const std::string& waiting) {
    if (!wanted()) {
        return;
    }
    JsonObject record = record_of("waiting");
    add_scene(record, scene);
    record.add("milliseconds", static_cast<uint64_t>(stalled_ns / 1000000));
    record.add("message", json_string(waiting));
    ReportFile::of_this_process().append(record);
}

void report_moved(const Scene& scene) {
    if (!wanted()) {
        return;
    }
    JsonObject record = record_of("moved");
    add_scene(record, scene);
    ReportFile::of_this_process().append(record);
}

} // namespace aivops::machine
