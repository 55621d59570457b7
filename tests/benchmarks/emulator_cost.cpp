// Measures the emulator from the side of a host: copies beside memcpy, empty launches, block switches, memory.
// Everything in one run, side by side; prints JSON. Arguments: a binary of emulator_cost.asc, and the size of tiles in
// bytes.
#include "acl/acl.h"
#include "machine/context_switch.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <map>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kDevices = 8;
constexpr uint32_t kBlocks = 48;

void check(aclError code, const char* what) {
    if (code != ACL_SUCCESS) {
        std::fprintf(stderr, "emulator_cost: %s: %d: %s\n", what, code, aclGetRecentErrMsg());
        std::exit(1);
    }
}

double median(std::vector<double> values) {
    auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

template <typename Function>
double microseconds(Function&& function) {
    const auto began = Clock::now();
    function();
    return std::chrono::duration<double, std::micro>(Clock::now() - began).count();
}

// Processor time of the whole process: what a machine with other work to do does not change.
template <typename Function>
double processor_microseconds(Function&& function) {
    auto now = [] {
        timespec time{};
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
        return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
    };
    const double began = now();
    function();
    return now() - began;
}

template <typename Function>
double median_of(int rounds, Function&& function) {
    std::vector<double> times;
    for (int round = 0; round < rounds; ++round) {
        times.push_back(function());
    }
    return median(times);
}

aclrtFuncHandle function_of(aclrtBinHandle binary, const char* name) {
    aclrtFuncHandle function = nullptr;
    check(aclrtBinaryGetFunction(binary, name, &function), name);
    return function;
}

template <typename Arguments>
void launch(aclrtFuncHandle function, uint32_t blocks, Arguments arguments) {
    check(aclrtLaunchKernelWithHostArgs(function, blocks, nullptr, nullptr, &arguments, sizeof arguments, nullptr, 0),
          "launch");
}

void synchronize() {
    check(aclrtSynchronizeStream(nullptr), "synchronize");
}

struct StreamArguments {
    void* to;
    void* from;
    uint64_t bytes;
    uint32_t tile;
};

// The processor time of memcpy over that of the kernel, both between the same two pieces of device memory.
void measure_copies(aclrtBinHandle binary, uint32_t tile) {
    const aclrtFuncHandle stream = function_of(binary, "stream");
    const char* separator = "";
    for (uint64_t bytes : {uint64_t{1} << 16, uint64_t{1} << 20, uint64_t{8} << 20, uint64_t{64} << 20}) {
        void* from = nullptr;
        void* to = nullptr;
        check(aclrtMalloc(&from, bytes, ACL_MEM_MALLOC_HUGE_FIRST), "malloc");
        check(aclrtMalloc(&to, bytes, ACL_MEM_MALLOC_HUGE_FIRST), "malloc");
        std::memset(from, 1, bytes);
        const int rounds = bytes < (8 << 20) ? 301 : bytes < (64 << 20) ? 101 : 25;
        std::vector<double> plain;
        std::vector<double> emulated;
        std::vector<double> ratios;
        for (int round = 0; round < rounds; ++round) {
            plain.push_back(processor_microseconds([&] { std::memcpy(to, from, bytes); }));
            emulated.push_back(processor_microseconds([&] {
                launch(stream, 1, StreamArguments{to, from, bytes, tile});
                synchronize();
            }));
            ratios.push_back(plain.back() / emulated.back());
        }
        if (std::memcmp(from, to, bytes) != 0) {
            std::fprintf(stderr, "emulator_cost: the copy is wrong\n");
            std::exit(1);
        }
        const auto kib = static_cast<unsigned long long>(bytes >> 10);
        std::printf("%s  \"copy %llu KiB, memcpy us\": %.1f,\n", separator, kib, median(plain));
        std::printf("  \"copy %llu KiB, kernel us\": %.1f,\n", kib, median(emulated));
        std::printf("  \"copy %llu KiB, ratio\": %.3f", kib, median(ratios));
        separator = ",\n";
        check(aclrtFree(from), "free");
        check(aclrtFree(to), "free");
    }
}

void measure_launches(aclrtBinHandle binary) {
    const aclrtFuncHandle empty = function_of(binary, "empty");
    auto once = [&] {
        return microseconds([&] {
            launch(empty, kBlocks, uint64_t{0});
            synchronize();
        });
    };
    median_of(1000, once);
    std::printf("  \"empty launch of 48 blocks, hot us\": %.2f,\n", median_of(3001, once));
    std::printf("  \"empty launch of 48 blocks, after 1 ms idle us\": %.2f,\n", median_of(301, [&] {
                    usleep(1000);
                    return once();
                }));
}

aivops::machine::SavedContext scheduler;
aivops::machine::SavedContext block;

void give_way_for_ever(void*) {
    while (true) {
        aivops::machine::aivops_switch_context(&block, scheduler);
    }
}

__attribute__((noinline)) void nothing() {
    asm volatile("");
}

void measure_switches() {
    static uint8_t stack[1 << 16];
    constexpr int kTurns = 10000;
    block = aivops::machine::make_context(stack, sizeof stack, give_way_for_ever, nullptr);
    void (*volatile indirect)() = nothing;
    std::vector<double> switches;
    std::vector<double> calls;
    for (int round = 0; round < 301; ++round) {
        switches.push_back(microseconds([] {
                               for (int turn = 0; turn < kTurns; ++turn) {
                                   aivops::machine::aivops_switch_context(&scheduler, block);
                               }
                           }) *
                           1000 / (2 * kTurns)); // there and back
        calls.push_back(microseconds([&] {
                            for (int turn = 0; turn < kTurns; ++turn) {
                                indirect();
                            }
                        }) *
                        1000 / kTurns);
    }
    std::printf("  \"block switch ns\": %.2f,\n  \"indirect call ns\": %.2f,\n", median(switches), median(calls));
}

// Resident KiB of this process, without unified buffers and stacks: the mappings of their size.
double resident_kib() {
    std::ifstream maps("/proc/self/smaps");
    double total = 0;
    uint64_t bytes = 0;
    for (std::string line; std::getline(maps, line);) {
        unsigned long long begin = 0;
        unsigned long long end = 0;
        if (std::sscanf(line.c_str(), "%llx-%llx ", &begin, &end) == 2) {
            bytes = end - begin;
        } else if (double kib = 0; std::sscanf(line.c_str(), "Rss: %lf", &kib) == 1) {
            const bool of_a_core = bytes == 192 << 10 || bytes == 256 << 10;
            total += of_a_core ? 0 : kib;
        }
    }
    return total;
}

// `before` is what the process held before it had devices.
void measure_memory(aclrtBinHandle binary, double before) {
    for (int device = 0; device < kDevices; ++device) {
        check(aclrtSetDevice(device), "set device");
        launch(function_of(binary, "meet"), kBlocks, uint64_t{0});
        synchronize();
    }
    std::printf("  \"memory of 8 devices x 48 blocks beyond UB and stacks, KiB\": %.0f,\n", resident_kib() - before);
    check(aclrtSetDevice(0), "set device");
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: emulator_cost BINARY TILE\n");
        return 2;
    }
    const double before = resident_kib();
    check(aclInit(nullptr), "init");
    check(aclrtSetDevice(0), "set device");
    aclrtBinHandle binary = nullptr;
    check(aclrtBinaryLoadFromFile(argv[1], nullptr, &binary), "load");
    std::printf("{\n");
    measure_memory(binary, before);
    measure_switches();
    measure_launches(binary);
    measure_copies(binary, static_cast<uint32_t>(std::atoi(argv[2])));
    std::printf("\n}\n");
}
