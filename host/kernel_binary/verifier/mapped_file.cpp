#include "verifier/mapped_file.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace aivops::kernel_binary {

MappedFile::MappedFile(const std::string& path) {
    const auto fail = [&](int error) { throw std::system_error(error, std::generic_category(), path); };
    // A FIFO would wait for a writer, and a device is no file to verify.
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) {
        fail(errno);
    }
    struct stat status{};
    int error = ::fstat(descriptor, &status) != 0 ? errno : S_ISREG(status.st_mode) ? 0 : EINVAL;
    if (error == 0 && status.st_size > 0) {
        size_ = static_cast<std::size_t>(status.st_size);
        data_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
        if (data_ == MAP_FAILED) {
            error = errno;
            data_ = nullptr;
        }
    }
    ::close(descriptor);
    if (error != 0) {
        fail(error);
    }
}

MappedFile::~MappedFile() {
    if (data_ != nullptr) {
        ::munmap(data_, size_);
    }
}

} // namespace aivops::kernel_binary
