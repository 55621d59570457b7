// Functions under two names in two libraries: FORWARD_near(f) makes f jump to aivops_far_f, and FORWARD_far(f) makes
// aivops_far_f jump to f. All registers and the stack stay as they are, so the arguments may be any.
#ifndef AIVOPS_EMULATOR_FORWARD_H
#define AIVOPS_EMULATOR_FORWARD_H

#if defined(__x86_64__)
#define AIVOPS_JUMP(to) "jmp " to "@PLT\n"
#elif defined(__aarch64__)
#define AIVOPS_JUMP(to) "b " to "\n"
#else
#error "the emulated toolkit runs on x86_64 and aarch64"
#endif

#define AIVOPS_FORWARD(from, to)                                                                                       \
    __asm__(".text\n.balign 16\n.globl " from "\n.type " from ", %function\n" from                                     \
            ":\n" AIVOPS_JUMP(to) ".size " from ", .-" from "\n");

#define FORWARD_near(name) AIVOPS_FORWARD(#name, "aivops_far_" #name)
#define FORWARD_far(name) AIVOPS_FORWARD("aivops_far_" #name, #name)

#endif // AIVOPS_EMULATOR_FORWARD_H
