// The fingerprint of a call: what all ranks must agree on, packed into the 64 bits that travel beside every flag.
// It is packed and not hashed, so that a mismatch can be told in words and two different calls never look alike.
#ifndef AIVOPS_FINGERPRINT_H
#define AIVOPS_FINGERPRINT_H

#include <stdint.h>

namespace aivops {

enum class Operator : uint8_t {
    kAllGather = 1, // 0 is no operator: a fingerprint is never 0
    kAllReduce = 2,
    kReduceScatter = 3,
    kAllToAll = 4,
    kBroadcast = 5,
    kScatter = 6,
    kGather = 7,
    kReduce = 8,
    kBarrier = 9,
    kAllGatherV = 10,
    kReduceScatterV = 11,
    kAllToAllV = 12,
    kSendRecv = 13,
};

enum class DataType : uint8_t {
    kHalf = 0,
    kBfloat16 = 1,
    kFloat = 2,
    kDouble = 3,
    kInt8 = 4,
    kInt16 = 5,
    kInt32 = 6,
    kInt64 = 7,
    kUint8 = 8,
    kUint16 = 9,
    kUint32 = 10,
    kUint64 = 11,
    kFloat8E4m3fn = 12,
    kFloat8E5m2 = 13,
    kFloat8E8m0 = 14,
    kHifloat8 = 15,
};

enum class Reduction : uint8_t { kSum = 0, kProd = 1, kMax = 2, kMin = 3 };

struct Call {
    Operator operation;
    DataType type;
    Reduction reduction; // kSum where nothing is reduced
    uint8_t algorithm;   // number of the algorithm within the operator
    uint8_t root;        // 0 where there is none
    uint8_t blocks;      // lanes of the launch
    uint64_t count;      // elements, at most kMaxCount; where ranks have different counts, a digest of them all
};

constexpr uint64_t kMaxCount = (uint64_t(1) << 36) - 1;
constexpr uint8_t kMaxAlgorithm = 15;

constexpr uint64_t fingerprint(const Call& call) {
    return uint64_t(call.operation) << 59 | uint64_t(call.type) << 55 | uint64_t(call.reduction) << 53 |
           uint64_t(call.algorithm & kMaxAlgorithm) << 49 | uint64_t(call.root & 63) << 43 |
           uint64_t(call.blocks & 127) << 36 | (call.count & kMaxCount);
}

constexpr Call call_of(uint64_t fingerprint) {
    return Call{Operator(fingerprint >> 59),      DataType(fingerprint >> 55 & 15),
                Reduction(fingerprint >> 53 & 3), uint8_t(fingerprint >> 49 & kMaxAlgorithm),
                uint8_t(fingerprint >> 43 & 63),  uint8_t(fingerprint >> 36 & 127),
                fingerprint & kMaxCount};
}

} // namespace aivops

#endif // AIVOPS_FINGERPRINT_H
