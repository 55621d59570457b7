// The extension module aivops._core. Importing it opens no toolkit and touches no device.
#include "register.h"

NB_MODULE(_core, m) {
    using namespace aivops::bindings;
    m.doc() = "Native part of aivops.";
    m.attr("__version__") = AIVOPS_VERSION;
    register_errors(m);
    register_interrupt(m);
    register_toolkit(m);
    register_device(m);
    register_event(m);
    register_stream(m);
    register_memory(m);
    register_launch(m);
    register_kernel(m);
    register_binary(m);
    register_kernel_binary(m);
    register_algorithm(m);
    register_comm(m);
    register_misuse(m);
}
