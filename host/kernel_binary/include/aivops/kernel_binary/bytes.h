// A read-only view of untrusted bytes. Every access says whether it lies inside; nothing here can read outside.
#ifndef AIVOPS_KERNEL_BINARY_BYTES_H
#define AIVOPS_KERNEL_BINARY_BYTES_H

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace aivops::kernel_binary {

class ByteView {
  public:
    ByteView() = default;
    ByteView(const void* data, std::size_t size) : data_(static_cast<const unsigned char*>(data)), size_(size) {}

    const unsigned char* data() const { return data_; }
    std::uint64_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    std::string_view text() const {
        return size_ == 0 ? std::string_view() : std::string_view(reinterpret_cast<const char*>(data_), size_);
    }

    bool contains(std::uint64_t offset, std::uint64_t size) const { return offset <= size_ && size <= size_ - offset; }

    // Empty when the range leaves the view.
    ByteView slice(std::uint64_t offset, std::uint64_t size) const {
        return contains(offset, size) ? ByteView(data_ + offset, static_cast<std::size_t>(size)) : ByteView();
    }

    // Little-endian, whatever the host; 0 when the range leaves the view.
    template <typename T>
    T little(std::uint64_t offset) const {
        if (!contains(offset, sizeof(T))) {
            return 0;
        }
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < sizeof(T); ++i) {
            value |= static_cast<std::uint64_t>(data_[offset + i]) << (8 * i);
        }
        return static_cast<T>(value);
    }

    template <typename T>
    T big(std::uint64_t offset) const {
        if (!contains(offset, sizeof(T))) {
            return 0;
        }
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < sizeof(T); ++i) {
            value = value << 8 | data_[offset + i];
        }
        return static_cast<T>(value);
    }

  private:
    const unsigned char* data_ = nullptr;
    std::size_t size_ = 0;
};

// Sections may overlap, so walking each of them could cost far more than the file has bytes. Whoever walks contents
// spends from a budget of the file's size: honest files never exhaust it.
class ByteBudget {
  public:
    explicit ByteBudget(std::uint64_t bytes) : left_(bytes) {}

    bool spend(std::uint64_t bytes) {
        if (bytes > left_) {
            left_ = 0;
            return false;
        }
        left_ -= bytes;
        return true;
    }

  private:
    std::uint64_t left_;
};

} // namespace aivops::kernel_binary

#endif // AIVOPS_KERNEL_BINARY_BYTES_H
