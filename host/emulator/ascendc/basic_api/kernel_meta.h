// The words of the record a kernel carries in section `.ascend.meta.<kernel>`, for sources that write it themselves.
#ifndef AIVOPS_ASCENDC_KERNEL_META_H
#define AIVOPS_ASCENDC_KERNEL_META_H
#pragma GCC system_header

#include <stdint.h>

enum KernelMetaRecordType : uint16_t { F_TYPE_KTYPE = 1 };

enum KernelMetaKType : unsigned int {
    K_TYPE_AICORE = 1,
    K_TYPE_AIC = 2,
    K_TYPE_AIV = 3,
    K_TYPE_MIX_AIC_MAIN = 4,
    K_TYPE_MIX_AIV_MAIN = 5,
    K_TYPE_AIC_ROLLBACK = 6,
    K_TYPE_AIV_ROLLBACK = 7,
    K_TYPE_MAX
};

struct BaseTlv {
    uint16_t type;
    uint16_t len;
};

struct FunMetaKType {
    BaseTlv head;
    unsigned int ktype;
};

// Nested, so that the usual initialiser {{F_TYPE_KTYPE, sizeof(unsigned int), K_TYPE_AIV}} fits.
struct FunLevelKType {
    FunMetaKType ktypeMeta;
};

static_assert(sizeof(FunLevelKType) == 8, "the runtime reads exactly eight bytes");

namespace AscendC {

using ::BaseTlv;
using ::F_TYPE_KTYPE;
using ::FunLevelKType;
using ::FunMetaKType;
using ::K_TYPE_AIC;
using ::K_TYPE_AIC_ROLLBACK;
using ::K_TYPE_AICORE;
using ::K_TYPE_AIV;
using ::K_TYPE_AIV_ROLLBACK;
using ::K_TYPE_MIX_AIC_MAIN;
using ::K_TYPE_MIX_AIV_MAIN;

} // namespace AscendC

#endif
