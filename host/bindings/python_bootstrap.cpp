#include "python_bootstrap.h"

#include "aivops/error.h"

#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace aivops::bindings {

namespace {

std::string kind_of(nb::handle object) {
    return nb::cast<std::string>(object.type().attr("__name__"));
}

} // namespace

PythonBootstrap::PythonBootstrap(nb::object object)
    : object_(std::move(object)), rank_(nb::cast<uint32_t>(object_.attr("rank"))),
      size_(nb::cast<uint32_t>(object_.attr("size"))) {
}

PythonBootstrap::~PythonBootstrap() {
    const nb::gil_scoped_acquire guard;
    object_.reset();
}

std::vector<std::string> PythonBootstrap::all_gather(const std::string& bytes) {
    const nb::gil_scoped_acquire guard;
    std::vector<std::string> all;
    const nb::object parts = object_.attr("all_gather")(nb::bytes(bytes.data(), bytes.size()));
    if (!nb::hasattr(parts, "__iter__")) {
        throw InvalidTypeError("Bootstrap: all_gather() returned a " + kind_of(parts) +
                               ", expected the bytes of every rank");
    }
    for (const nb::handle part : parts) {
        if (!nb::isinstance<nb::bytes>(part)) {
            throw InvalidTypeError("Bootstrap: all_gather() returned a " + kind_of(part) +
                                   " among the parts of ranks, expected bytes");
        }
        const auto text = nb::borrow<nb::bytes>(part);
        all.emplace_back(text.c_str(), text.size());
    }
    return all;
}

void PythonBootstrap::barrier() {
    const nb::gil_scoped_acquire guard;
    object_.attr("barrier")();
}

} // namespace aivops::bindings
