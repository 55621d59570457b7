// Ascend C for vector cores, on a CPU: everything a kernel includes. share/doc/aivops/ascendc.md in the toolkit lists
// what there is.
#ifndef AIVOPS_ASCENDC_KERNEL_OPERATOR_H
#define AIVOPS_ASCENDC_KERNEL_OPERATOR_H
#pragma GCC system_header

#include "adv_api/hccl/hccl_common.h"
#include "aivops_emulator/builtins.h"
#include "aivops_emulator/qualifiers.h"
#include "basic_api/common_types.h"
#include "basic_api/kernel_meta.h"
#include "basic_api/kernel_operator_block_sync_intf.h"
#include "basic_api/kernel_operator_cache_intf.h"
#include "basic_api/kernel_operator_data_copy_intf.h"
#include "basic_api/kernel_operator_dump_tensor_intf.h"
#include "basic_api/kernel_operator_scalar_intf.h"
#include "basic_api/kernel_operator_set_atomic_intf.h"
#include "basic_api/kernel_operator_sys_var_intf.h"
#include "basic_api/kernel_operator_vec_binary_intf.h"
#include "basic_api/kernel_operator_vec_binary_scalar_intf.h"
#include "basic_api/kernel_operator_vec_cmpsel_intf.h"
#include "basic_api/kernel_operator_vec_duplicate_intf.h"
#include "basic_api/kernel_operator_vec_mask_intf.h"
#include "basic_api/kernel_operator_vec_reduce_intf.h"
#include "basic_api/kernel_operator_vec_unary_intf.h"
#include "basic_api/kernel_operator_vec_vconv_intf.h"
#include "basic_api/kernel_struct_data_copy.h"
#include "basic_api/kernel_tensor.h"
#include "basic_api/kernel_tpipe.h"
#include "basic_api/std_type_traits.h"

#endif
