#include "unclaimed.h"

#include "machine.h"

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace aivops::machine {
namespace {

size_t unfinished_launches_of(Device& device) {
    size_t count = 0;
    for (const std::shared_ptr<Stream>& stream : device.streams()) {
        count += stream->unfinished_launches();
    }
    return count;
}

void end_of_process() {
    for (uint32_t index = 0; index < machine().device_count(); ++index) {
        Device& device = machine().device(index);
        for (const std::shared_ptr<Stream>& stream : device.streams()) {
            say_unclaimed(*stream);
        }
        if (const size_t count = unfinished_launches_of(device); count != 0) {
            std::fprintf(stderr,
                         "aivops emulator: warning: device %u: %zu launch%s had not ended when the process did, and "
                         "nobody waited for %s; synchronize the stream\n",
                         index, count, count == 1 ? "" : "es", count == 1 ? "it" : "them");
        }
    }
}

} // namespace

void watch_end_of_process() {
    static const pid_t process = getpid();
    static const bool watched = std::atexit([] {
                                    if (getpid() == process) {
                                        end_of_process();
                                    }
                                }) == 0;
    static_cast<void>(watched);
}

void say_unclaimed(Stream& stream) {
    if (const std::optional<Failure> failure = stream.take_unclaimed_failure()) {
        std::fprintf(stderr, "aivops emulator: warning: a launch failed, and nobody waited for it: %s\n",
                     failure->message.c_str());
    }
}

size_t unfinished_launches() {
    size_t count = 0;
    for (uint32_t index = 0; index < machine().device_count(); ++index) {
        count += unfinished_launches_of(machine().device(index));
    }
    return count;
}

} // namespace aivops::machine
