// The instructions that kernels call, as the table lists them. They act at once, in program order.
#ifndef AIVOPS_MACHINE_INSTRUCTIONS_H
#define AIVOPS_MACHINE_INSTRUCTIONS_H

#include "contract/contract.h"

#include <cstddef>
#include <cstdint>

// The place in the kernel, for reports; only in the function that the kernel calls.
#define AIVOPS_PLACE __builtin_return_address(0)

namespace aivops::machine {

void copy(AivEmuBlock* handle, const AivEmuCopy* instruction);

void compute(AivEmuBlock* handle, const AivEmuCompute* instruction);
void* ub_scalar(AivEmuBlock* handle, uint32_t ub, uint32_t bytes, int write);
void ub_invalidate(AivEmuBlock* handle, uint32_t ub, uint32_t bytes);

void gm_load(AivEmuBlock* handle, const void* gm, void* value, uint32_t bytes);
void gm_store(AivEmuBlock* handle, void* gm, const void* value, uint32_t bytes);
void gm_load_uncached(AivEmuBlock* handle, const void* gm, void* value, uint32_t bytes);
void gm_store_uncached(AivEmuBlock* handle, void* gm, const void* value, uint32_t bytes);
void gm_atomic(AivEmuBlock* handle, uint32_t atomic, uint32_t type, void* gm, const void* operand, const void* compare,
               void* old_value);
void cache_clean_invalidate(AivEmuBlock* handle, const void* gm, int entire, uint32_t destination);
void memory_barrier(AivEmuBlock* handle, uint32_t kind);

void set_atomic(AivEmuBlock* handle, uint32_t atomic, uint32_t type);

void pipe_barrier(AivEmuBlock* handle, uint32_t pipe);
void set_flag(AivEmuBlock* handle, uint32_t source, uint32_t destination, uint32_t id);
void wait_flag(AivEmuBlock* handle, uint32_t source, uint32_t destination, uint32_t id);

void sync_all(AivEmuBlock* handle);
void cross_core_set(AivEmuBlock* handle, uint32_t mode, uint32_t pipe, uint32_t id);
void cross_core_wait(AivEmuBlock* handle, uint32_t mode, uint32_t pipe, uint32_t id);

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_INSTRUCTIONS_H
