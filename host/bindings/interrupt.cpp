// Ctrl-C while a call waits: Python's handlers run, and what they raise ends the wait.
#include "register.h"

#include "aivops/dispatch/wait.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace nb = nanobind;

namespace aivops::bindings {
namespace {

void look_after_signals() {
    // Python runs handlers in the main thread only; the others need not fight for the interpreter.
    if (syscall(SYS_gettid) != getpid()) {
        return;
    }
    const nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) {
        throw nb::python_error();
    }
}

} // namespace

void register_interrupt(nb::module_&) {
    observe_waits(look_after_signals);
}

} // namespace aivops::bindings
