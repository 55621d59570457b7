// How messages count: "1 byte", "3 bytes".
#ifndef AIVOPS_KERNEL_BINARY_COUNTED_H
#define AIVOPS_KERNEL_BINARY_COUNTED_H

#include <cstdint>
#include <string>

namespace aivops::kernel_binary {

inline std::string counted(std::uint64_t count, const char* thing) {
    return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

} // namespace aivops::kernel_binary

#endif // AIVOPS_KERNEL_BINARY_COUNTED_H
