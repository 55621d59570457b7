// Launches kernels one after the other on device 0 and says how each ended, for tests that judge it.
// usage: launches KERNELS.o; each line of the input is `kernel blocks batch timeout_us argument…`
// An argument is `u32:N`, `u64:N`, or `gm:N` for N bytes of device memory, zeroed and freed afterwards. A line of the
// output is the code of the synchronisation, the content of the memory in hexadecimal or `-`, and the message.
#include <acl/acl.h>
#include <acl/acl_rt.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace {

void require(aclError code, const char* call) {
    if (code != ACL_SUCCESS) {
        const char* message = aclGetRecentErrMsg();
        std::fprintf(stderr, "%s returned %d: %s\n", call, code, message != nullptr ? message : "");
        std::exit(1);
    }
}
#define OK(call) require((call), #call)

struct Memory {
    void* at;
    size_t bytes;
};

// Puts an argument behind the others, aligned to its size.
template <typename T>
void append(std::vector<char>& block, T value) {
    block.resize((block.size() + sizeof value - 1) / sizeof value * sizeof value + sizeof value);
    std::memcpy(block.data() + block.size() - sizeof value, &value, sizeof value);
}

Memory allocate(size_t bytes) {
    Memory memory{nullptr, bytes};
    OK(aclrtMalloc(&memory.at, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(memory.at, bytes, 0, bytes));
    return memory;
}

std::string content_of(const Memory& memory) {
    std::vector<unsigned char> bytes(memory.bytes);
    OK(aclrtMemcpy(bytes.data(), bytes.size(), memory.at, memory.bytes, ACL_MEMCPY_DEVICE_TO_HOST));
    std::string text;
    for (unsigned char byte : bytes) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", byte);
        text += digits;
    }
    return text;
}

void launch(aclrtBinHandle binary, const std::string& line) {
    std::istringstream words(line);
    std::string kernel, argument;
    uint32_t blocks = 0, batch = 0, timeout_us = 0;
    words >> kernel >> blocks >> batch >> timeout_us;
    std::vector<char> block;
    std::vector<Memory> memories;
    while (words >> argument) {
        const uint64_t value = std::strtoull(argument.c_str() + argument.find(':') + 1, nullptr, 0);
        if (argument.rfind("u32:", 0) == 0) {
            append(block, static_cast<uint32_t>(value));
        } else if (argument.rfind("gm:", 0) == 0) {
            memories.push_back(allocate(value));
            append(block, memories.back().at);
        } else {
            append(block, value);
        }
    }
    aclrtFuncHandle function = nullptr;
    OK(aclrtBinaryGetFunction(binary, kernel.c_str(), &function));
    aclrtLaunchKernelAttr attributes[2] = {};
    attributes[0].id = ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE;
    attributes[0].value.schemMode = static_cast<uint8_t>(batch);
    attributes[1].id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US;
    attributes[1].value.timeoutUs.timeoutLow = timeout_us;
    aclrtLaunchKernelCfg config{attributes, static_cast<size_t>(timeout_us != 0 ? 2 : 1)};
    OK(aclrtLaunchKernelWithHostArgs(function, blocks, nullptr, &config, block.data(), block.size(), nullptr, 0));
    const aclError code = aclrtSynchronizeStream(nullptr);
    const char* message = aclGetRecentErrMsg();
    const std::string said = message != nullptr ? message : "";
    std::cout << code << ' ' << (memories.empty() ? "-" : content_of(memories.front())) << ' ' << said << std::endl;
    for (const Memory& memory : memories) {
        OK(aclrtFree(memory.at));
    }
}

} // namespace

int main(int, char** argv) {
    OK(aclInit(nullptr));
    OK(aclrtSetDevice(0));
    aclrtBinHandle binary = nullptr;
    OK(aclrtBinaryLoadFromFile(argv[1], nullptr, &binary));
    for (std::string line; std::getline(std::cin, line);) {
        launch(binary, line);
    }
    OK(aclrtBinaryUnLoad(binary));
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
}
