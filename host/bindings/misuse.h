// Arguments that Python gets wrong, refused in the words of aivops._misuse.
#ifndef AIVOPS_BINDINGS_MISUSE_H
#define AIVOPS_BINDINGS_MISUSE_H

#include <cstdint>
#include <nanobind/nanobind.h>

namespace aivops::bindings {

/// `value` as a number. `what` names it in the message, e.g. "Stream: vector_cores".
std::uint32_t require_count(const char* what, nanobind::handle value);

} // namespace aivops::bindings

#endif // AIVOPS_BINDINGS_MISUSE_H
