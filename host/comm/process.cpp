#include "process.h"

#include <aivops/error.h>

#include <fstream>
#include <sstream>
#include <string>
#include <sys/random.h>

namespace aivops {

std::optional<uint64_t> start_of_process(int32_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string line;
    if (!std::getline(file, line)) {
        return std::nullopt;
    }
    // See proc(5): the second field is the name, in parentheses and with whatever it contains; the third is the state,
    // the 22nd the start.
    constexpr int kFieldsFromStateToStart = 18;
    std::istringstream fields(line.substr(line.rfind(')') + 1));
    std::string state;
    fields >> state;
    std::string skipped;
    for (int field = 0; field < kFieldsFromStateToStart; ++field) {
        fields >> skipped;
    }
    uint64_t start = 0;
    if (!(fields >> start) || state == "Z" || state == "X") {
        return std::nullopt;
    }
    return start;
}

uint64_t process_identity() {
    static const uint64_t identity = [] {
        uint64_t bits = 0;
        if (getrandom(&bits, sizeof bits, 0) != static_cast<ssize_t>(sizeof bits)) {
            throw Error("Communicator: the system has no random bits");
        }
        return bits;
    }();
    return identity;
}

} // namespace aivops
