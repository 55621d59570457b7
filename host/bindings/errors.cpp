// C++ exceptions become those of aivops.errors, which is plain Python so that importing aivops needs no extension.
#include "register.h"

#include "aivops/error.h"

#include <exception>

namespace nb = nanobind;

namespace aivops::bindings {

namespace {

void raise(const char* name, const Error& error) {
    const nb::object type = nb::module_::import_("aivops.errors").attr(name);
    PyErr_SetString(type.ptr(), error.what());
}

void raise_acl(const char* name, const AclError& error) {
    const nb::object type = nb::module_::import_("aivops.errors").attr(name);
    const nb::object instance = type(error.what(), error.code(), error.name().c_str(), error.runtime_message().c_str());
    PyErr_SetObject(type.ptr(), instance.ptr());
}

void translate(const std::exception_ptr& pointer, void*) {
    try {
        std::rethrow_exception(pointer);
    } catch (const AclTimeoutError& error) {
        raise_acl("AclTimeoutError", error);
    } catch (const AclError& error) {
        raise_acl("AclError", error);
    } catch (const ToolkitError& error) {
        raise("ToolkitError", error);
    } catch (const BinaryError& error) {
        raise("BinaryError", error);
    } catch (const InvalidValueError& error) {
        raise("InvalidValueError", error);
    } catch (const InvalidTypeError& error) {
        raise("InvalidTypeError", error);
    } catch (const ForkError& error) {
        raise("ForkError", error);
    } catch (const Error& error) {
        raise("Error", error);
    }
}

} // namespace

void register_errors(nb::module_&) {
    nb::register_exception_translator(translate);
}

} // namespace aivops::bindings
