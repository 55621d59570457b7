// The export macro: gives a kernel the record by which runtimes recognise it as an AIV kernel.
// Without it a kernel of a hand-built binary is dispatched to cube cores (or not at all), so every entry needs one.
#ifndef AIVOPS_EXPORT_H
#define AIVOPS_EXPORT_H

#include <stdint.h>

namespace aivops {

// One function record of section `.ascend.meta.<kernel>`: type F_TYPE_KTYPE, four bytes, value K_TYPE_AIV.
struct KernelTypeRecord {
    uint16_t type;
    uint16_t length;
    uint32_t value;
};
static_assert(sizeof(KernelTypeRecord) == 8, "the runtime reads exactly eight bytes");

} // namespace aivops

// Write it at file scope, outside of any namespace, once per `extern "C" __global__ __aicore__` entry.
#define AIVOPS_EXPORT_KERNEL(kernel)                                                                                   \
    static const ::aivops::KernelTypeRecord kernel##_aivops_record                                                     \
        __attribute__((used, section(".ascend.meta." #kernel))) = {1, 4, 3}

// The name under which the field knows it; a source that brings its own keeps its own.
#ifndef EXPORT_AIV_META_INFO
#define EXPORT_AIV_META_INFO(kernel) AIVOPS_EXPORT_KERNEL(kernel)
#endif

#endif // AIVOPS_EXPORT_H
