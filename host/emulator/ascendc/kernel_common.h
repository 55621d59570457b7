// The name under which some kernels ask for the common part of Ascend C.
#ifndef AIVOPS_ASCENDC_KERNEL_COMMON_H
#define AIVOPS_ASCENDC_KERNEL_COMMON_H
#pragma GCC system_header

#include "kernel_operator.h"

#endif
