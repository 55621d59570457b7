// Copies whose destination passes the caches by: for more than they would keep until somebody reads it.
#ifndef AIVOPS_MACHINE_STREAMING_COPY_H
#define AIVOPS_MACHINE_STREAMING_COPY_H

#include <cstddef>

namespace aivops::machine {

/// As memcpy; where the CPU cannot do better it is memcpy.
void streaming_copy(void* to, const void* from, size_t bytes);

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_STREAMING_COPY_H
