// What is known of HCCL's data types: bytes of an element, and how elements of several ranks are folded into one.
#ifndef AIVOPS_EMULATOR_HCCL_DATA_TYPE_H
#define AIVOPS_EMULATOR_HCCL_DATA_TYPE_H

#include "hccl/hccl_types.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace aivops::hccl {

/// Throws for a type that there is not.
uint64_t element_bytes(HcclDataType type);
std::string type_name(HcclDataType type);
std::string reduce_name(HcclReduceOp op);

/// Folds elements in the order of its calls. Half and bfloat16 are kept in float until the end.
struct Fold {
    /// Bytes that one element takes while it is folded.
    uint64_t wide_bytes;
    void (*begin)(void* wide, const void* elements, uint64_t count);
    void (*add)(void* wide, const void* elements, uint64_t count);
    void (*end)(void* elements, const void* wide, uint64_t count);
};

/// Throws where HCCL does not reduce this type with this operation.
Fold find_fold(HcclDataType type, HcclReduceOp op);

} // namespace aivops::hccl

#endif // AIVOPS_EMULATOR_HCCL_DATA_TYPE_H
