// Adds two vectors on device 0 with the kernel that is installed beside this program; prints the largest error.
#include "aivops/dispatch.h"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <vector>

namespace {

std::filesystem::path kernels_folder() {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "share/pure_cmake/kernels";
}

float largest_error(std::size_t count) {
    const aivops::Toolkit& toolkit = aivops::Toolkit::open(aivops::select_toolkit({}).root);
    const aivops::Device device(toolkit, 0);
    const aivops::Stream stream(device);
    const aivops::Kernel kernel = aivops::KernelSet::open(toolkit, kernels_folder()).get_kernel("add_float");

    std::vector<float> a(count), b(count), c(count);
    for (std::size_t i = 0; i < count; ++i) {
        a[i] = static_cast<float>(i);
        b[i] = 0.5f;
    }
    const std::size_t bytes = count * sizeof(float);
    const aivops::Buffer device_a(device, bytes), device_b(device, bytes), device_c(device, bytes);
    device_a.copy_from_host(a.data(), bytes);
    device_b.copy_from_host(b.data(), bytes);
    kernel.launch(stream, {}, device_a, device_b, device_c, static_cast<std::uint64_t>(count));
    stream.synchronize();
    device_c.copy_to_host(c.data(), bytes);

    float error = 0;
    for (std::size_t i = 0; i < count; ++i) {
        error = std::fmax(error, std::fabs(c[i] - (a[i] + b[i])));
    }
    return error;
}

} // namespace

int main() {
    try {
        const float error = largest_error(100003);
        std::printf("largest error %g\n", static_cast<double>(error));
        return error == 0 ? 0 : 1;
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "%s\n", problem.what());
        return 1;
    }
}
