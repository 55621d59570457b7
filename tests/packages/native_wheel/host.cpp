// Launches this package's kernel through AivOps::host; the kernels lie beside this very file.
#include "aivops/dispatch.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>

#include <dlfcn.h>

namespace nb = nanobind;

namespace {

using Vector = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::filesystem::path kernels_folder() {
    Dl_info info{};
    dladdr(reinterpret_cast<const void*>(&kernels_folder), &info);
    return std::filesystem::path(info.dli_fname).parent_path() / "kernels";
}

void add(const std::filesystem::path& emulated_root, Vector a, Vector b,
         nb::ndarray<float, nb::ndim<1>, nb::c_contig, nb::device::cpu> c) {
    if (a.size() != b.size() || a.size() != c.size()) {
        throw nb::value_error("the vectors have different lengths");
    }
    aivops::ToolkitSearch search;
    search.emulated_root = emulated_root;
    const aivops::Toolkit& toolkit = aivops::open_selected_toolkit(search);
    const aivops::Device device(toolkit, 0);
    const aivops::Stream stream(device);
    const aivops::Kernel kernel = aivops::KernelSet::open(toolkit, kernels_folder()).get_kernel("vector_sum_float");

    const std::size_t bytes = a.size() * sizeof(float);
    const aivops::Buffer device_a(device, bytes), device_b(device, bytes), device_c(device, bytes);
    device_a.copy_from_host(a.data(), bytes);
    device_b.copy_from_host(b.data(), bytes);
    kernel.launch(stream, {}, device_a, device_b, device_c, static_cast<std::uint64_t>(a.size()));
    nb::gil_scoped_release released;
    stream.synchronize();
    device_c.copy_to_host(c.data(), bytes);
}

} // namespace

NB_MODULE(_host, module) {
    module.def("add", &add, nb::arg("emulated_root"), nb::arg("a"), nb::arg("b"), nb::arg("c"));
}
