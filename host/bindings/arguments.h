// Python values into the argument block of a kernel, with the checks of the C++ API.
#ifndef AIVOPS_BINDINGS_ARGUMENTS_H
#define AIVOPS_BINDINGS_ARGUMENTS_H

#include "aivops/dispatch/prepared_launch.h"

#include <nanobind/nanobind.h>

namespace aivops::bindings {

struct PackedArguments {
    ArgumentBlock block;
    ArgumentBuffers buffers;
};

PackedArguments pack_python_arguments(const Kernel& kernel, const nanobind::args& arguments);

/// Replaces every argument of a prepared launch.
void write_python_arguments(PreparedLaunch& launch, const nanobind::args& arguments);

void write_python_argument(PreparedLaunch& launch, std::size_t index, nanobind::handle value);

/// From an index or a name.
std::size_t find_parameter(const Kernel& kernel, const nanobind::object& which);

} // namespace aivops::bindings

#endif // AIVOPS_BINDINGS_ARGUMENTS_H
