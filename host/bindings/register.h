// One function per concept; module.cpp calls them in the order in which they build on each other.
#ifndef AIVOPS_BINDINGS_REGISTER_H
#define AIVOPS_BINDINGS_REGISTER_H

#include <nanobind/nanobind.h>

namespace aivops::bindings {

void register_errors(nanobind::module_& m);
void register_interrupt(nanobind::module_& m);
void register_toolkit(nanobind::module_& m);
void register_device(nanobind::module_& m);
void register_event(nanobind::module_& m);
void register_stream(nanobind::module_& m);
void register_memory(nanobind::module_& m);
void register_launch(nanobind::module_& m);
void register_kernel(nanobind::module_& m);
void register_binary(nanobind::module_& m);
void register_kernel_binary(nanobind::module_& m);
void register_algorithm(nanobind::module_& m);
void register_comm(nanobind::module_& m);
void register_misuse(nanobind::module_& m);

} // namespace aivops::bindings

#endif // AIVOPS_BINDINGS_REGISTER_H
