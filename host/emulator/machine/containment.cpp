#include "containment.h"

#include "doorbell.h"
#include "kernel_run.h"
#include "machine.h"
#include "report.h"
#include "soc.h"

#include "acl/error_codes/rt_error_codes.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <thread>

namespace aivops::machine {
namespace {

constexpr int kFaultSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
constexpr int kInterrupt = SIGURG; // ignored by default, so a late one does no harm
constexpr std::chrono::milliseconds kWatchInterval{10};
constexpr size_t kHandlerStackBytes = 64 * 1024; // beside what the CPU saves there
constexpr unsigned long kSavedByCpu = 51;        // AT_MINSIGSTKSZ, which older headers do not know

// Read in signal handlers: memory that is there from the thread's start.
[[gnu::tls_model("initial-exec")]] thread_local Block* current_block = nullptr;

std::array<struct sigaction, 64> previous_actions;

// What a fault said, for the scheduler to turn into words: handlers must not allocate.
struct Fault {
    int signal;
    Address address;
    const void* instruction;
};
[[gnu::tls_model("initial-exec")]] thread_local Fault last_fault;

// Reports look up return addresses, which are behind the call; so is this, then.
const void* behind(const void* instruction) {
    return static_cast<const char*>(instruction) + 1;
}

const char* signal_words(int signal) {
    switch (signal) {
    case SIGSEGV:
    case SIGBUS:
        return "touches an address that it must not";
    case SIGFPE:
        return "divides by zero (or overflows in a division)";
    case SIGILL:
        return "executes an instruction that does not exist (a trap, or unreachable code)";
    default:
        return "stops at a trap";
    }
}

void pass_on(int signal, siginfo_t* info, void* context) {
    const struct sigaction& previous = previous_actions[signal];
    if ((previous.sa_flags & SA_SIGINFO) != 0 && previous.sa_sigaction != nullptr) {
        previous.sa_sigaction(signal, info, context);
    } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
        previous.sa_handler(signal);
    } else if (previous.sa_handler == SIG_DFL && signal != kInterrupt) {
        // Back to the default, which acts as soon as the instruction is tried again.
        sigaction(signal, &previous, nullptr);
    }
}

void on_signal(int signal, siginfo_t* info, void* context) {
    int saved_errno = errno;
    Block* block = current_block;
    bool ours = false;
    if (block != nullptr) {
        const bool inside = block->in_machine.load(std::memory_order_relaxed);
        if (signal == kInterrupt) {
            ours = !inside && block->device->stop_running().load();
        } else {
            ours = (!inside || block->in_copy.load(std::memory_order_relaxed)) && info->si_code > 0;
        }
    }
    if (ours) {
        block->in_machine.store(true, std::memory_order_relaxed); // another signal may be waiting for this one's return
        last_fault = {signal, reinterpret_cast<Address>(info->si_addr), behind(interrupted_instruction(context))};
        block->state = BlockState::kFaulted;
        block->own_stack.leave_for(block->scheduler_stack);
        redirect_signal_return(context, block->scheduler);
    } else {
        pass_on(signal, info, context);
    }
    errno = saved_errno;
}

void install_handlers() {
    struct sigaction action{};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (int signal : kFaultSignals) {
        sigaction(signal, &action, &previous_actions[signal]);
    }
    sigaction(kInterrupt, &action, &previous_actions[kInterrupt]);
}

size_t alternate_stack_bytes() {
    return kHandlerStackBytes + getauxval(kSavedByCpu);
}

// The calling thread's alternate stack, for as long as the thread lives.
class AlternateStack {
  public:
    AlternateStack() {
        stack_t now{};
        sigaltstack(nullptr, &now);
        if ((now.ss_flags & SS_DISABLE) == 0 && now.ss_size >= bytes_ / 4) {
            return; // someone else's will do
        }
        memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        previous_ = now;
        stack_t mine{};
        mine.ss_sp = memory_;
        mine.ss_size = bytes_;
        sigaltstack(&mine, nullptr);
    }
    ~AlternateStack() {
        if (memory_ != nullptr) {
            sigaltstack(&previous_, nullptr);
            munmap(memory_, bytes_);
        }
    }

  private:
    const size_t bytes_ = alternate_stack_bytes();
    void* memory_ = nullptr;
    stack_t previous_{};
};

// What the thread that drives a device has had of a processor: on a busy machine it may be long in coming.
int64_t processor_ns(const Device& device) {
    clockid_t clock{};
    timespec time{};
    if (pthread_getcpuclockid(device.engine_thread(), &clock) != 0 || clock_gettime(clock, &time) != 0) {
        return 0;
    }
    return int64_t{time.tv_sec} * 1000 * 1000 * 1000 + time.tv_nsec;
}

// Ends blocks that run on without giving way and without progress.
void watch() {
    block_signals_of_the_process();
    struct Seen {
        Block* block = nullptr;
        uint64_t switches = 0;
        uint64_t progress = 0;
        int64_t since = 0; // of the processor's time
    };
    std::vector<Seen> seen(machine().device_count());
    while (true) {
        bool work = false;
        for (uint32_t index = 0; index < machine().device_count(); ++index) {
            work |= machine().device(index).has_work();
        }
        // Nothing can be late yet when nothing runs.
        std::this_thread::sleep_for(work ? kWatchInterval : 10 * kWatchInterval);
        for (uint32_t index = 0; index < machine().device_count(); ++index) {
            Device& device = machine().device(index);
            Block* block = device.running();
            Seen& last = seen[index];
            if (block == nullptr) {
                last.block = nullptr;
                continue;
            }
            const uint64_t switches = device.switches();
            const uint64_t progress = device.progress().load(std::memory_order_relaxed);
            const int64_t now = processor_ns(device);
            if (block != last.block || switches != last.switches || progress != last.progress) {
                last = {block, switches, progress, now};
            } else if (int64_t limit = device.running_timeout_ns(); limit != 0 && now - last.since > limit) {
                device.stop_running().store(true);
                interrupt_running(device);
            }
        }
    }
}

} // namespace

void prepare_thread_for_kernels() {
    static std::once_flag once;
    std::call_once(once, [] {
        install_handlers();
        std::thread(watch).detach();
    });
    thread_local AlternateStack stack;
}

void block_signals_of_the_process() {
    sigset_t all;
    sigfillset(&all);
    for (int signal : kFaultSignals) {
        sigdelset(&all, signal);
    }
    sigdelset(&all, kInterrupt);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

void set_current_block(Block* block) {
    current_block = block;
}

void interrupt_running(Device& device) {
    if (device.running() != nullptr) {
        pthread_kill(device.engine_thread(), kInterrupt);
    }
}

Finding take_fault(const Block& block) {
    const Fault fault = last_fault;
    Finding finding;
    finding.code = ACL_ERROR_RT_VECTOR_CORE_EXCEPTION;
    finding.category = category_name(AIVOPS_EMU_MEMCHECK);
    finding.message = signal_words(fault.signal);
    finding.place = fault.instruction;
    switch (fault.signal) {
    case kInterrupt:
        finding.code = ACL_ERROR_RT_VECTOR_CORE_TIMEOUT;
        finding.category = kTimeoutCategory;
        finding.message = "runs on and never comes back";
        break;
    case SIGSEGV:
    case SIGBUS: {
        const Address stack = reinterpret_cast<Address>(block.core->stack);
        if (fault.address < stack && fault.address + Core::kStackGuardBytes > stack) {
            finding.message = "overflows its stack";
        } else {
            finding.message += ": " + describe_address(fault.address);
            if (fault.address < soc().ub_bytes) {
                finding.message += "; a pointer that is null, or a __ubuf__ pointer, which is an offset into the "
                                   "unified buffer: reach that with GetValue, SetValue and instructions";
            }
        }
        break;
    }
    case SIGFPE:
        finding.category = category_name(AIVOPS_EMU_ASSERT);
        break;
    default:
        finding.code = ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION;
        finding.category = category_name(AIVOPS_EMU_ASSERT);
    }
    return finding;
}

} // namespace aivops::machine
