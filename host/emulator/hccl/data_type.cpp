#include "data_type.h"

#include "error.h"
#include "machine/storage_formats.h"

#include <algorithm>
#include <cstring>

namespace aivops::hccl {
namespace {

using machine::Bfloat16;
using machine::Half;
using machine::Native;

struct TypeInfo {
    HcclDataType type;
    uint64_t bytes;
    const char* name;
};

constexpr TypeInfo kTypes[] = {
    {HCCL_DATA_TYPE_INT8, 1, "int8"},       {HCCL_DATA_TYPE_INT16, 2, "int16"},
    {HCCL_DATA_TYPE_INT32, 4, "int32"},     {HCCL_DATA_TYPE_FP16, 2, "fp16"},
    {HCCL_DATA_TYPE_FP32, 4, "fp32"},       {HCCL_DATA_TYPE_INT64, 8, "int64"},
    {HCCL_DATA_TYPE_UINT64, 8, "uint64"},   {HCCL_DATA_TYPE_UINT8, 1, "uint8"},
    {HCCL_DATA_TYPE_UINT16, 2, "uint16"},   {HCCL_DATA_TYPE_UINT32, 4, "uint32"},
    {HCCL_DATA_TYPE_FP64, 8, "fp64"},       {HCCL_DATA_TYPE_BFP16, 2, "bfp16"},
    {HCCL_DATA_TYPE_INT128, 16, "int128"},  {HCCL_DATA_TYPE_HIF8, 1, "hif8"},
    {HCCL_DATA_TYPE_FP8E4M3, 1, "fp8e4m3"}, {HCCL_DATA_TYPE_FP8E5M2, 1, "fp8e5m2"},
    {HCCL_DATA_TYPE_FP8E8M0, 1, "fp8e8m0"},
};

const TypeInfo& find_type(HcclDataType type) {
    const auto* found =
        std::find_if(std::begin(kTypes), std::end(kTypes), [type](const TypeInfo& info) { return info.type == type; });
    require(found != std::end(kTypes), HCCL_E_PARA, "there is no data type " + std::to_string(type));
    return *found;
}

struct Sum {
    template <typename T>
    static T combine(T left, T right) {
        return machine::wrapping_add(left, right);
    }
};
struct Product {
    template <typename T>
    static T combine(T left, T right) {
        return machine::wrapping_multiply(left, right);
    }
};
struct Largest {
    template <typename T>
    static T combine(T left, T right) {
        return std::max(left, right);
    }
};
struct Smallest {
    template <typename T>
    static T combine(T left, T right) {
        return std::min(left, right);
    }
};

// Elements may stand at any address, so they are moved by memcpy.
template <typename Format, typename Operation>
struct Folding {
    using Bits = typename Format::Bits;
    using Wide = decltype(Format::widen(Bits{}));

    static Wide element(const void* elements, uint64_t index) {
        Bits bits;
        std::memcpy(&bits, static_cast<const std::byte*>(elements) + index * sizeof bits, sizeof bits);
        return Format::widen(bits);
    }
    static void begin(void* wide, const void* elements, uint64_t count) {
        for (uint64_t index = 0; index < count; ++index) {
            static_cast<Wide*>(wide)[index] = element(elements, index);
        }
    }
    static void add(void* wide, const void* elements, uint64_t count) {
        for (uint64_t index = 0; index < count; ++index) {
            Wide& sum = static_cast<Wide*>(wide)[index];
            sum = Operation::combine(sum, element(elements, index));
        }
    }
    static void end(void* elements, const void* wide, uint64_t count) {
        for (uint64_t index = 0; index < count; ++index) {
            Bits bits = Format::narrow(static_cast<const Wide*>(wide)[index]);
            std::memcpy(static_cast<std::byte*>(elements) + index * sizeof bits, &bits, sizeof bits);
        }
    }
    static constexpr Fold kFold{sizeof(Wide), begin, add, end};
};

template <typename Format>
Fold fold_of(HcclReduceOp op) {
    switch (op) {
    case HCCL_REDUCE_SUM:
        return Folding<Format, Sum>::kFold;
    case HCCL_REDUCE_PROD:
        return Folding<Format, Product>::kFold;
    case HCCL_REDUCE_MAX:
        return Folding<Format, Largest>::kFold;
    case HCCL_REDUCE_MIN:
        return Folding<Format, Smallest>::kFold;
    default:
        throw Error(HCCL_E_PARA, "there is no reduction " + std::to_string(op));
    }
}

} // namespace

uint64_t element_bytes(HcclDataType type) {
    return find_type(type).bytes;
}

std::string type_name(HcclDataType type) {
    return find_type(type).name;
}

std::string reduce_name(HcclReduceOp op) {
    constexpr const char* kNames[] = {"sum", "prod", "max", "min"};
    return op <= HCCL_REDUCE_MIN ? kNames[op] : std::to_string(op);
}

Fold find_fold(HcclDataType type, HcclReduceOp op) {
    const std::string name = find_type(type).name;
    require(op != HCCL_REDUCE_PROD || (type != HCCL_DATA_TYPE_INT16 && type != HCCL_DATA_TYPE_BFP16),
            HCCL_E_NOT_SUPPORT, "HCCL has no product of " + name);
    switch (type) {
    case HCCL_DATA_TYPE_INT8:
        return fold_of<Native<int8_t>>(op);
    case HCCL_DATA_TYPE_INT16:
        return fold_of<Native<int16_t>>(op);
    case HCCL_DATA_TYPE_INT32:
        return fold_of<Native<int32_t>>(op);
    case HCCL_DATA_TYPE_INT64:
        return fold_of<Native<int64_t>>(op);
    case HCCL_DATA_TYPE_UINT8:
        return fold_of<Native<uint8_t>>(op);
    case HCCL_DATA_TYPE_UINT16:
        return fold_of<Native<uint16_t>>(op);
    case HCCL_DATA_TYPE_UINT32:
        return fold_of<Native<uint32_t>>(op);
    case HCCL_DATA_TYPE_UINT64:
        return fold_of<Native<uint64_t>>(op);
    case HCCL_DATA_TYPE_FP16:
        return fold_of<Half>(op);
    case HCCL_DATA_TYPE_BFP16:
        return fold_of<Bfloat16>(op);
    case HCCL_DATA_TYPE_FP32:
        return fold_of<Native<float>>(op);
    case HCCL_DATA_TYPE_FP64:
        return fold_of<Native<double>>(op);
    default:
        throw Error(HCCL_E_NOT_SUPPORT, "HCCL does not reduce " + name);
    }
}

} // namespace aivops::hccl
