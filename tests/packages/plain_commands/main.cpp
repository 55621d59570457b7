// Loads the kernel file given as argument with ACL alone, fills a buffer on device 0 and counts wrong words.
#include "acl/acl.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

void check(aclError code, const char* call) {
    if (code != ACL_SUCCESS) {
        const char* message = aclGetRecentErrMsg();
        std::fprintf(stderr, "%s: error %d: %s\n", call, code, message ? message : "no message");
        std::exit(1);
    }
}

#define CHECK(call) check(call, #call)

struct Arguments {
    void* destination;
    std::uint32_t value;
    std::uint32_t count;
};

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: %s KERNEL\n", argv[0]);
        return 2;
    }
    CHECK(aclInit(nullptr));
    CHECK(aclrtSetDevice(0));
    aclrtStream stream = nullptr;
    CHECK(aclrtCreateStream(&stream));
    aclrtBinHandle binary = nullptr;
    CHECK(aclrtBinaryLoadFromFile(argv[1], nullptr, &binary));
    aclrtFuncHandle function = nullptr;
    CHECK(aclrtBinaryGetFunction(binary, "fill", &function));

    constexpr std::uint32_t kCount = 1003, kValue = 0xC0FFEE;
    Arguments arguments{nullptr, kValue, kCount};
    CHECK(aclrtMalloc(&arguments.destination, kCount * sizeof(std::uint32_t), ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtLaunchKernelWithHostArgs(function, 4, stream, nullptr, &arguments, sizeof(arguments), nullptr, 0));
    CHECK(aclrtSynchronizeStream(stream));
    std::vector<std::uint32_t> words(kCount);
    const std::size_t bytes = kCount * sizeof(std::uint32_t);
    CHECK(aclrtMemcpy(words.data(), bytes, arguments.destination, bytes, ACL_MEMCPY_DEVICE_TO_HOST));

    int wrong = 0;
    for (std::uint32_t word : words) {
        wrong += word != kValue;
    }
    std::printf("%d wrong words\n", wrong);
    CHECK(aclrtFree(arguments.destination));
    CHECK(aclrtBinaryUnLoad(binary));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return wrong == 0 ? 0 : 1;
}
