// The C++ API where it differs from Python's: templates, RAII, exceptions. argv: toolkit, kernels.
#include "aivops/dispatch.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

int failures = 0;

void expect(bool holds, const char* what, int line) {
    if (!holds) {
        std::fprintf(stderr, "line %d: %s\n", line, what);
        ++failures;
    }
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)

/// The message of the exception that `action` throws; empty when it throws none of this type.
template <class Exception, class Action>
std::string thrown(Action&& action) {
    try {
        action();
    } catch (const Exception& error) {
        return error.what();
    }
    return {};
}

bool contains(const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
}

struct Point {
    std::int32_t x;
    double y;
    std::uint8_t tail[5];
};

enum class Small : std::int8_t { kLow = -128 };

std::int32_t read(const aivops::Buffer& buffer) {
    std::int32_t value = 0;
    buffer.copy_to_host(&value, sizeof value);
    return value;
}

void test_launches(const aivops::Device& device, const aivops::Binary& binary) {
    const aivops::Stream stream(device);
    const aivops::Kernel store = binary.get_kernel("store");
    const aivops::Buffer target(device, sizeof(std::int32_t));
    store.launch(stream, {}, target, 5);
    stream.synchronize();
    EXPECT(read(target) == 5);

    store.launch(stream, {1, aivops::Schedule::kNormal, 10.0}, target.pointer(), std::uint64_t{6});
    stream.synchronize();
    EXPECT(read(target) == 6);

    struct Block {
        void* to;
        std::int32_t value;
    } block = {target.pointer(), 7};
    store.launch_block(stream, {}, &block, sizeof block);
    stream.synchronize();
    EXPECT(read(target) == 7);

    aivops::PreparedLaunch prepared = store.prepare(stream, {}, target, 8);
    prepared.set(1, 9);
    prepared.launch();
    stream.synchronize();
    EXPECT(read(target) == 9);

    const aivops::Buffer echoed(device, 128);
    binary.get_kernel("echo").launch(stream, {}, echoed, Small::kLow, std::uint8_t{255}, short{-2}, 65535, -1, 1U, -1L,
                                     ~0UL, 0.5F, 0.25, 1.0, 2.0F, true, Point{1, 2.0, {3, 4, 5, 6, 7}}, nullptr);
    stream.synchronize();
    std::vector<unsigned char> bytes(128);
    echoed.copy_to_host(bytes.data(), bytes.size());
    EXPECT(bytes[0] == 0x80 && bytes[1] == 0xff && bytes[2] == 0xfe && bytes[3] == 0xff);
}

void test_refusals(const aivops::Device& device, const aivops::Binary& binary) {
    const aivops::Stream stream(device);
    const aivops::Kernel store = binary.get_kernel("store");
    const aivops::Buffer target(device, 4);
    using aivops::InvalidTypeError;
    using aivops::InvalidValueError;
    EXPECT(contains(thrown<InvalidTypeError>([&] { store.launch(stream, {}, target); }), "takes 2 arguments, found 1"));
    EXPECT(contains(thrown<InvalidTypeError>([&] { store.launch(stream, {}, target, 1.5); }),
                    "parameter 1 \"value\" (int, 4 bytes) cannot take the floating-point number 1.5"));
    EXPECT(contains(thrown<InvalidTypeError>([&] { store.launch(stream, {}, 1, 1); }), "cannot take the integer 1"));
    EXPECT(contains(thrown<InvalidValueError>([&] { store.launch(stream, {}, target, 1LL << 31); }),
                    "cannot hold 2147483648"));
    EXPECT(
        contains(thrown<InvalidValueError>([&] { store.launch(stream, {49}, target, 1); }), "49 blocks in batch mode"));
    EXPECT(contains(
        thrown<InvalidValueError>([&] { store.launch(stream, {70000, aivops::Schedule::kNormal}, target, 1); }),
        "at most 65535"));
    EXPECT(contains(
        thrown<InvalidValueError>([&] { store.launch(stream, {1, aivops::Schedule::kBatch, 0.0}, target, 1); }),
        "0 s is not a time limit"));
    char block[3] = {};
    EXPECT(contains(thrown<InvalidValueError>([&] { store.launch_block(stream, {}, block, sizeof block); }),
                    "an argument block of 3 bytes, expected 16"));
    EXPECT(contains(thrown<InvalidValueError>([&] { (void)target.slice(2, 3); }), "leaves it"));
    EXPECT(contains(thrown<aivops::AclError>([&] { (void)aivops::Buffer(device, std::size_t{1} << 50); }), "207001"));
}

/// The calling thread's context, or null.
aclrtContext current_context(const aivops::Toolkit& toolkit) {
    aclrtContext context = nullptr;
    return toolkit.acl().aclrtGetCurrentContext(&context) == ACL_SUCCESS ? context : nullptr;
}

void test_contexts(const aivops::Toolkit& toolkit, const aivops::Binary& binary) {
    const aivops::Device first(toolkit, 0), second(toolkit, 1);
    const aivops::ContextGuard outer(first);
    {
        const aivops::ContextGuard inner(second);
        EXPECT(current_context(toolkit) == second.context());
        const aivops::Buffer target(first, 4);
        const aivops::Stream stream(first);
        binary.get_kernel("store").launch(stream, {}, target, 3);
        stream.synchronize();
        EXPECT(current_context(toolkit) == second.context());
    }
    EXPECT(current_context(toolkit) == first.context());
}

void test_threads(const aivops::Device& device, const aivops::Binary& binary) {
    std::vector<std::thread> threads;
    for (int number = 0; number < 8; ++number) {
        threads.emplace_back([&, number] {
            const aivops::Stream stream(device);
            const aivops::Buffer target(device, 4);
            for (int i = 0; i < 50; ++i) {
                binary.get_kernel("store").launch(stream, {1}, target, number * 100 + i);
            }
            stream.synchronize();
            EXPECT(read(target) == number * 100 + 49);
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

} // namespace

int main(int, char** argv) try {
    const aivops::Toolkit& toolkit = aivops::Toolkit::open(argv[1]);
    EXPECT(&toolkit == &aivops::Toolkit::open(std::string(argv[1]) + "/."));
    const aivops::Device device(toolkit, 0);
    const aivops::Binary binary = aivops::Binary::load(toolkit, argv[2]);
    test_launches(device, binary);
    test_refusals(device, binary);
    test_contexts(toolkit, binary);
    test_threads(device, binary);
    return failures == 0 ? 0 : 1;
} catch (const aivops::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
}
