#include "arguments.h"

#include <nanobind/stl/string.h>

#include <optional>
#include <string>

namespace nb = nanobind;

namespace aivops::bindings {

namespace {

using aivops::detail::Slot;

/// "numpy.ndarray", "int".
std::string class_of(nb::handle value) {
    const nb::handle type = value.type();
    const auto module = nb::cast<std::string>(type.attr("__module__"));
    const auto name = nb::cast<std::string>(type.attr("__qualname__"));
    return module == "builtins" ? name : module + "." + name;
}

[[noreturn]] void refuse_type(const Slot& slot, nb::handle value, const char* hint = "") {
    slot.refuse_kind("a " + class_of(value) + hint);
}

/// A Python int of any size, in sign and magnitude. Numbers that 64 bits cannot hold are refused.
void write_int(ArgumentBlock& block, const Slot& slot, PyObject* number) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
    if (overflow == 0) {
        const auto wide = static_cast<std::uint64_t>(value);
        aivops::detail::write_integer(block, slot, value < 0, value < 0 ? ~wide + 1 : wide);
        return;
    }
    const unsigned long long large = overflow > 0 ? PyLong_AsUnsignedLongLong(number) : 0;
    if (overflow < 0 || PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        slot.refuse_value("the integer " + nb::cast<std::string>(nb::str(nb::handle(number))));
    }
    aivops::detail::write_integer(block, slot, false, large);
}

void write_integer_value(ArgumentBlock& block, const Slot& slot, nb::handle value) {
    if (PyBool_Check(value.ptr())) {
        refuse_type(slot, value);
    }
    if (PyLong_Check(value.ptr())) {
        write_int(block, slot, value.ptr());
        return;
    }
    const nb::object number = nb::steal(PyNumber_Index(value.ptr()));
    if (!number.is_valid()) {
        PyErr_Clear();
        refuse_type(slot, value);
    }
    write_int(block, slot, number.ptr());
}

void write_float_value(ArgumentBlock& block, const Slot& slot, nb::handle value) {
    // Text parses as a number in Python; numbers are those that say so themselves.
    if (!PyFloat_Check(value.ptr()) &&
        (PyBool_Check(value.ptr()) || (!PyLong_Check(value.ptr()) && !nb::hasattr(value, "__float__")))) {
        refuse_type(slot, value);
    }
    const double number = PyFloat_AsDouble(value.ptr());
    if (number == -1.0 && PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        refuse_type(slot, value);
    }
    aivops::detail::write_float(block, slot, number);
}

void write_bool_value(ArgumentBlock& block, const Slot& slot, nb::handle value) {
    if (PyBool_Check(value.ptr())) {
        aivops::detail::write_bool(block, slot, value.ptr() == Py_True);
        return;
    }
    const std::string name = class_of(value);
    if (name != "numpy.bool" && name != "numpy.bool_") {
        refuse_type(slot, value);
    }
    aivops::detail::write_bool(block, slot, PyObject_IsTrue(value.ptr()) == 1);
}

/// The buffer that `value` is, or null. Remembers the last type that was one: asking nanobind costs as much as a
/// launch.
Buffer* as_buffer(nb::handle value) {
    static PyTypeObject* last_type = nullptr; // guarded by the GIL; types of this package are never freed
    if (Py_TYPE(value.ptr()) != last_type) {
        if (!nb::isinstance<Buffer>(value)) {
            return nullptr;
        }
        last_type = Py_TYPE(value.ptr());
        Py_INCREF(reinterpret_cast<PyObject*>(last_type));
    }
    return nb::inst_ptr<Buffer>(value);
}

void write_pointer_value(ArgumentBlock& block, const Slot& slot, nb::handle value, std::optional<Buffer>& buffer) {
    if (const Buffer* given = as_buffer(value)) {
        aivops::detail::write_pointer(block, slot, given->pointer());
        if (!buffer || !buffer->shares_memory_with(*given)) {
            buffer = *given;
        }
        return;
    }
    buffer.reset();
    if (value.is_none()) {
        aivops::detail::write_pointer(block, slot, nullptr);
        return;
    }
    if (!PyLong_Check(value.ptr()) || PyBool_Check(value.ptr())) {
        refuse_type(slot, value, "; give an aivops.Buffer, a device address as an int, or None");
    }
    const unsigned long long address = PyLong_AsUnsignedLongLong(value.ptr());
    if (PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        slot.refuse_value("the address " + nb::cast<std::string>(nb::str(value)));
    }
    aivops::detail::write_pointer(block, slot, reinterpret_cast<const void*>(static_cast<std::uintptr_t>(address)));
}

/// The bytes of a bytes object, ctypes structure, numpy record or anything else that exports a buffer; invalid
/// otherwise.
nb::object bytes_of(nb::handle value) {
    if (PyBytes_Check(value.ptr())) {
        return nb::borrow(value);
    }
    const nb::object view = nb::steal(PyMemoryView_FromObject(value.ptr()));
    if (!view.is_valid()) {
        PyErr_Clear();
        return {};
    }
    return view.attr("tobytes")();
}

void write_struct_value(ArgumentBlock& block, const Slot& slot, nb::handle value) {
    const nb::object bytes = bytes_of(value);
    if (!bytes.is_valid()) {
        refuse_type(slot, value, "; give bytes, a ctypes structure or a numpy record");
    }
    aivops::detail::write_struct(block, slot, PyBytes_AsString(bytes.ptr()),
                                 static_cast<std::size_t>(PyBytes_Size(bytes.ptr())));
}

void write_value(ArgumentBlock& block, const Slot& slot, nb::handle value, std::optional<Buffer>& buffer) {
    switch (slot.parameter.kind) {
    case ParameterKind::kPointer:
        write_pointer_value(block, slot, value, buffer);
        return;
    case ParameterKind::kInt:
    case ParameterKind::kUint:
        write_integer_value(block, slot, value);
        return;
    case ParameterKind::kFloat:
    case ParameterKind::kHalf:
    case ParameterKind::kBfloat16:
        write_float_value(block, slot, value);
        return;
    case ParameterKind::kBool:
        write_bool_value(block, slot, value);
        return;
    case ParameterKind::kStruct:
        write_struct_value(block, slot, value);
        return;
    }
}

void write_values(const Kernel& kernel, ArgumentBlock& block, ArgumentBuffers& buffers, const nb::args& arguments) {
    const std::vector<Parameter>& parameters = kernel.layout()->parameters;
    const auto count = static_cast<std::size_t>(PyTuple_Size(arguments.ptr()));
    if (count != parameters.size()) {
        aivops::detail::refuse_count(kernel.name(), parameters.size(), count);
    }
    for (std::size_t i = 0; i < count; ++i) {
        write_value(block, Slot{kernel.name(), i, parameters[i]},
                    PyTuple_GetItem(arguments.ptr(), static_cast<Py_ssize_t>(i)), buffers[i]);
    }
}

/// Without a layout the caller packs the block.
ArgumentBlock take_whole_block(const Kernel& kernel, const nb::args& arguments) {
    const nb::object bytes = arguments.size() == 1 ? bytes_of(arguments[0]) : nb::object();
    if (!bytes.is_valid()) {
        aivops::detail::refuse_without_layout(kernel.name());
    }
    const auto size = static_cast<std::size_t>(PyBytes_Size(bytes.ptr()));
    ArgumentBlock block(size);
    block.write(0, PyBytes_AsString(bytes.ptr()), size);
    return block;
}

} // namespace

PackedArguments pack_python_arguments(const Kernel& kernel, const nb::args& arguments) {
    if (!kernel.layout()) {
        return {take_whole_block(kernel, arguments), {}};
    }
    PackedArguments packed{ArgumentBlock(kernel.layout()->bytes), ArgumentBuffers(kernel.layout()->parameters.size())};
    write_values(kernel, packed.block, packed.buffers, arguments);
    return packed;
}

void write_python_arguments(PreparedLaunch& launch, const nb::args& arguments) {
    if (!launch.kernel().layout()) {
        ArgumentBlock block = take_whole_block(launch.kernel(), arguments);
        launch.replace_block(std::move(block));
        return;
    }
    write_values(launch.kernel(), launch.block(), launch.buffers(), arguments);
}

void write_python_argument(PreparedLaunch& launch, std::size_t index, nb::handle value) {
    const Slot slot = launch.slot(index);
    write_value(launch.block(), slot, value, launch.buffers()[index]);
}

std::size_t find_parameter(const Kernel& kernel, const nb::object& which) {
    if (!kernel.layout()) {
        aivops::detail::refuse_without_layout(kernel.name());
    }
    const std::vector<Parameter>& parameters = kernel.layout()->parameters;
    std::size_t index = 0;
    if (nb::try_cast(which, index, false)) {
        return index;
    }
    std::string name;
    if (nb::try_cast(which, name, false)) {
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            if (!name.empty() && parameters[i].name == name) {
                return i;
            }
        }
        throw InvalidValueError("Kernel " + kernel.name() + ": has no parameter \"" + name + "\"");
    }
    throw InvalidTypeError("Kernel " + kernel.name() + ": a parameter is chosen by index or name, not by a " +
                           class_of(which));
}

} // namespace aivops::bindings
