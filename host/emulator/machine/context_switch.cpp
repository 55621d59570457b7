#include "context_switch.h"

#include <cstdint>
#include <cstring>
#include <ucontext.h>

extern "C" void aivops_load_context();
extern "C" void aivops_start_context();

#if defined(__x86_64__)

asm(R"(
    .text
    .p2align 4
    .globl aivops_switch_context
    .hidden aivops_switch_context
    .type aivops_switch_context, @function
aivops_switch_context:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    subq $8, %rsp
    stmxcsr (%rsp)
    fnstcw 4(%rsp)
    movq %rsp, (%rdi)
    .globl aivops_load_context
    .hidden aivops_load_context
aivops_load_context:
    movq %rsi, %rsp
    ldmxcsr (%rsp)
    fldcw 4(%rsp)
    addq $8, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    retq
    .size aivops_switch_context, . - aivops_switch_context

    .globl aivops_start_context
    .hidden aivops_start_context
    .type aivops_start_context, @function
aivops_start_context:
    movq %r12, %rdi
    xorl %ebp, %ebp
    callq *%r13
    ud2
    .size aivops_start_context, . - aivops_start_context
)");

#elif defined(__aarch64__)

asm(R"(
    .text
    .p2align 4
    .globl aivops_switch_context
    .hidden aivops_switch_context
    .type aivops_switch_context, %function
aivops_switch_context:
    sub sp, sp, #176
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mrs x9, fpcr
    str x9, [sp, #160]
    mov x9, sp
    str x9, [x0]
    .globl aivops_load_context
    .hidden aivops_load_context
aivops_load_context:
    mov sp, x1
    ldr x9, [sp, #160]
    msr fpcr, x9
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #176
    ret
    .size aivops_switch_context, . - aivops_switch_context

    .globl aivops_start_context
    .hidden aivops_start_context
    .type aivops_start_context, %function
aivops_start_context:
    mov x0, x19
    mov x29, xzr
    mov x30, xzr
    blr x20
    brk #0
    .size aivops_start_context, . - aivops_start_context
)");

#else
#error "aivops emulator: write the context switch for this CPU here"
#endif

namespace aivops::machine {

SavedContext make_context(void* stack, size_t bytes, void (*entry)(void*), void* argument) {
    uintptr_t top = (reinterpret_cast<uintptr_t>(stack) + bytes) & ~uintptr_t{15};
#if defined(__x86_64__)
    // In the order of the pops: control words, r15, r14, r13, r12, rbx, rbp, return address.
    constexpr size_t kWords = 8;
    // The `ret` leaves the stack pointer at a multiple of 16, as a call expects it.
    auto* words = reinterpret_cast<uint64_t*>(top - 16) - kWords;
    std::memset(words, 0, kWords * sizeof(uint64_t));
    uint32_t mxcsr = 0x1f80; // round to nearest, every exception masked
    uint16_t x87 = 0x037f;
    std::memcpy(words, &mxcsr, sizeof mxcsr);
    std::memcpy(reinterpret_cast<char*>(words) + 4, &x87, sizeof x87);
    words[3] = reinterpret_cast<uint64_t>(entry);
    words[4] = reinterpret_cast<uint64_t>(argument);
    words[7] = reinterpret_cast<uint64_t>(&aivops_start_context);
#else
    constexpr size_t kWords = 22;
    auto* words = reinterpret_cast<uint64_t*>(top) - kWords;
    std::memset(words, 0, kWords * sizeof(uint64_t));
    words[0] = reinterpret_cast<uint64_t>(argument);
    words[1] = reinterpret_cast<uint64_t>(entry);
    words[11] = reinterpret_cast<uint64_t>(&aivops_start_context);
#endif
    return words;
}

void redirect_signal_return(void* context, SavedContext to) {
    auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
    constexpr greg_t kDirectionFlag = 1 << 10;
    machine.gregs[REG_RSI] = reinterpret_cast<greg_t>(to);
    machine.gregs[REG_RSP] = reinterpret_cast<greg_t>(to);
    machine.gregs[REG_RIP] = reinterpret_cast<greg_t>(&aivops_load_context);
    machine.gregs[REG_EFL] &= ~kDirectionFlag;
#else
    constexpr uint64_t kBranchType = 3 << 10; // an interrupted indirect branch must land on a mark; this is none
    machine.regs[1] = reinterpret_cast<uint64_t>(to);
    machine.sp = reinterpret_cast<uint64_t>(to);
    machine.pc = reinterpret_cast<uint64_t>(&aivops_load_context);
    machine.pstate &= ~kBranchType;
#endif
}

const void* interrupted_instruction(void* context) {
    auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
    return reinterpret_cast<const void*>(machine.gregs[REG_RIP]);
#else
    return reinterpret_cast<const void*>(machine.pc);
#endif
}

} // namespace aivops::machine
