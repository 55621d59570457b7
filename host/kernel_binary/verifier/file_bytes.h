// A regular file as bytes that live as long as the object: mapped read-only, or read when it is so small that making a
// mapping costs more.
#ifndef AIVOPS_KERNEL_BINARY_VERIFIER_FILE_BYTES_H
#define AIVOPS_KERNEL_BINARY_VERIFIER_FILE_BYTES_H

#include "aivops/kernel_binary/bytes.h"

#include <memory>
#include <string>

namespace aivops::kernel_binary {

class FileBytes {
  public:
    // Throws std::system_error when the path cannot be opened, is no regular file, or cannot be mapped.
    explicit FileBytes(const std::string& path);
    ~FileBytes();
    FileBytes(const FileBytes&) = delete;
    FileBytes& operator=(const FileBytes&) = delete;

    ByteView bytes() const { return {small_ ? small_.get() : mapping_, size_}; }

  private:
    void* mapping_ = nullptr;
    std::unique_ptr<char[]> small_;
    std::size_t size_ = 0;
};

} // namespace aivops::kernel_binary

#endif // AIVOPS_KERNEL_BINARY_VERIFIER_FILE_BYTES_H
