#include "verifier/file_bytes.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace aivops::kernel_binary {

namespace {

constexpr std::size_t kSmallBytes = 64 << 10;

class Descriptor {
  public:
    // A FIFO would wait for a writer, and a device is no file to verify.
    explicit Descriptor(const std::string& path) : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
    ~Descriptor() {
        if (number_ >= 0) {
            ::close(number_);
        }
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    int number() const { return number_; }

  private:
    int number_;
};

} // namespace

FileBytes::FileBytes(const std::string& path) {
    const auto fail = [&](int error) { throw std::system_error(error, std::generic_category(), path); };
    const Descriptor descriptor(path);
    struct stat status{};
    if (descriptor.number() < 0 || ::fstat(descriptor.number(), &status) != 0) {
        fail(errno);
    }
    if (!S_ISREG(status.st_mode)) {
        fail(EINVAL);
    }
    size_ = static_cast<std::size_t>(status.st_size);
    if (size_ <= kSmallBytes) {
        small_ = std::make_unique_for_overwrite<char[]>(size_);
        std::size_t done = 0;
        while (done < size_) {
            const ssize_t count = ::read(descriptor.number(), small_.get() + done, size_ - done);
            if (count < 0 && errno != EINTR) {
                fail(errno);
            }
            if (count == 0) {
                size_ = done; // it has become shorter
            }
            done += count > 0 ? static_cast<std::size_t>(count) : 0;
        }
        return;
    }
    mapping_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor.number(), 0);
    if (mapping_ == MAP_FAILED) {
        mapping_ = nullptr;
        fail(errno);
    }
}

FileBytes::~FileBytes() {
    if (mapping_ != nullptr) {
        ::munmap(mapping_, size_);
    }
}

} // namespace aivops::kernel_binary
