#include "python_bootstrap.h"

namespace nb = nanobind;

namespace aivops::bindings {

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
    for (const nb::handle part : object_.attr("all_gather")(nb::bytes(bytes.data(), bytes.size()))) {
        const nb::bytes text = nb::cast<nb::bytes>(part);
        all.emplace_back(text.c_str(), text.size());
    }
    return all;
}

void PythonBootstrap::barrier() {
    const nb::gil_scoped_acquire guard;
    object_.attr("barrier")();
}

} // namespace aivops::bindings
