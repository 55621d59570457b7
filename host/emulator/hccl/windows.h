// Memory of this rank that peers get to see: its HCCL buffer and what the program registers.
#ifndef AIVOPS_EMULATOR_HCCL_WINDOWS_H
#define AIVOPS_EMULATOR_HCCL_WINDOWS_H

#include "hccl/hccl_channel.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <sys/types.h>
#include <vector>

namespace aivops::hccl {

struct Window {
    std::string tag;
    void* memory = nullptr;
    uint64_t bytes = 0;
    std::string key; // empty until another process needs it
};

class Windows {
  public:
    Windows(uint32_t device, uint64_t buffer_bytes) : device_(device), buffer_bytes_(buffer_bytes) {}
    ~Windows();
    Windows(const Windows&) = delete;
    Windows& operator=(const Windows&) = delete;

    /// The HCCL buffer, allocated at the first call.
    Window& buffer();

    HcclMemHandle register_memory(const char* tag, const CommMem& memory);
    /// Throws when the handle is none of this communicator's.
    Window& find(HcclMemHandle handle);

    /// The key under which `processes` may import the window.
    const std::string& key(Window& window, std::span<const pid_t> processes);

  private:
    const uint32_t device_;
    const uint64_t buffer_bytes_;
    std::mutex mutex_;
    Window buffer_;
    std::vector<std::unique_ptr<Window>> registered_;
};

} // namespace aivops::hccl

#endif // AIVOPS_EMULATOR_HCCL_WINDOWS_H
