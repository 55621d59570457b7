// A regular file mapped read-only, as bytes. The mapping lives as long as the object.
#ifndef AIVOPS_KERNEL_BINARY_VERIFIER_MAPPED_FILE_H
#define AIVOPS_KERNEL_BINARY_VERIFIER_MAPPED_FILE_H

#include "aivops/kernel_binary/bytes.h"

#include <string>

namespace aivops::kernel_binary {

class MappedFile {
  public:
    // Throws std::system_error when the path cannot be opened, is no regular file, or cannot be mapped.
    explicit MappedFile(const std::string& path);
    ~MappedFile();
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    ByteView bytes() const { return {data_, size_}; }

  private:
    void* data_ = nullptr;
    std::size_t size_ = 0;
};

} // namespace aivops::kernel_binary

#endif // AIVOPS_KERNEL_BINARY_VERIFIER_MAPPED_FILE_H
