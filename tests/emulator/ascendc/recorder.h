// Writes down which functions of Ascend C a kernel binary runs: with -finstrument-functions g++ calls these two at
// every function, inlined ones too. A line per function and binary goes to the file that AIVOPS_TEST_TRACE names:
// source, binary, architecture, test, and the offsets of the function and of the function it was called from.
#ifndef AIVOPS_TESTS_RECORDER_H
#define AIVOPS_TESTS_RECORDER_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "aivops_emulator/core.h"

#define AIVOPS_TEST_RECORDED __attribute__((weak, visibility("hidden")))
#define AIVOPS_TEST_RECORDER AIVOPS_TEST_RECORDED __attribute__((no_instrument_function))

// Every block has a stack of calls of its own. Frames tell which calls a fault has left behind without an exit.
struct AivOpsTestCalls {
    void* block;
    int depth;
    struct {
        unsigned long function;
        char* frame;
    } calls[128];
};

extern "C" {
extern char __ehdr_start[] __attribute__((visibility("hidden")));
AIVOPS_TEST_RECORDED AivOpsTestCalls aivops_test_blocks[128];
AIVOPS_TEST_RECORDED unsigned long aivops_test_seen[1 << 14][2];

AIVOPS_TEST_RECORDER AivOpsTestCalls& aivops_test_calls(char* frame) {
    void* block = __aivops_binding.block;
    int index = 0;
    while (index < 127 && aivops_test_blocks[index].block != nullptr && aivops_test_blocks[index].block != block)
        ++index;
    AivOpsTestCalls& calls = aivops_test_blocks[index];
    if (calls.block != block) {
        calls.block = block;
        calls.depth = 0;
    }
    while (calls.depth > 0 && calls.calls[calls.depth - 1].frame < frame)
        --calls.depth;
    return calls;
}

AIVOPS_TEST_RECORDER void __cyg_profile_func_exit(void*, void*) {
    AivOpsTestCalls& calls = aivops_test_calls(static_cast<char*>(__builtin_frame_address(0)));
    if (calls.depth > 0)
        --calls.depth;
}

AIVOPS_TEST_RECORDER void __cyg_profile_func_enter(void* address, void*) {
    char* frame = static_cast<char*>(__builtin_frame_address(0));
    const unsigned long function = static_cast<char*>(address) - __ehdr_start;
    AivOpsTestCalls& calls = aivops_test_calls(frame);
    const unsigned long caller = calls.depth > 0 ? calls.calls[calls.depth - 1].function : 0;
    if (calls.depth < 128) {
        calls.calls[calls.depth].function = function;
        calls.calls[calls.depth].frame = frame;
        ++calls.depth;
    }
    unsigned long slot = (function * 31 + caller) * 0x9E3779B97F4A7C15ul >> 50;
    for (; aivops_test_seen[slot][0] != 0; slot = (slot + 1) & 0x3fff) {
        if (aivops_test_seen[slot][0] == function && aivops_test_seen[slot][1] == caller)
            return;
    }
    aivops_test_seen[slot][0] = function;
    aivops_test_seen[slot][1] = caller;
    char line[2048];
    const char* test = getenv("PYTEST_CURRENT_TEST");
    const int length = snprintf(line, sizeof(line), "%s\t%s\t%d\t%s\t%lx\t%lx\n", AIVOPS_TEST_SOURCE,
                                AIVOPS_TEST_BINARY, __NPU_ARCH__, test ? test : "", function, caller);
    const int file = open(getenv("AIVOPS_TEST_TRACE"), O_WRONLY | O_APPEND | O_CREAT, 0644);
    if (write(file, line, length) != length)
        abort();
    close(file);
}
}

#endif
