// Launches a kernel from C++: open a toolkit, load the kernels that were built beside this program, launch, read back.
#include "aivops/dispatch.h"

#include <cmath>
#include <cstdio>
#include <vector>

int main(int argc, char** argv) try {
    if (argc != 2) {
        std::fprintf(stderr, "usage: %s FOLDER_OF_KERNELS, with ASCEND_HOME_PATH set\n", argv[0]);
        return 2;
    }
    const aivops::Toolkit& toolkit = aivops::open_selected_toolkit({});
    const aivops::Device device(toolkit, 0);
    const aivops::Stream stream(device);
    const aivops::Kernel saxpy = aivops::KernelSet::open(toolkit, argv[1]).get_kernel("saxpy");

    const std::vector<float> x(100'000, 2.0F);
    std::vector<float> y(x.size(), 1.0F);
    const std::size_t bytes = x.size() * sizeof(float);
    const aivops::Buffer device_x(device, bytes), device_y(device, bytes);
    device_x.copy_from_host(x.data(), bytes);
    device_y.copy_from_host(y.data(), bytes);

    // Every vector core, batch mode, the default time limit. Arguments are checked against the kernel's parameters.
    const auto count = static_cast<std::uint32_t>(x.size());
    saxpy.launch(stream, {}, device_x, device_y, 3.0F, count);

    // The same again and again: checked and packed once.
    aivops::PreparedLaunch again = saxpy.prepare(stream, {}, device_x, device_y, 1.0F, count);
    for (int i = 0; i < 10; ++i) {
        again.launch();
    }
    stream.synchronize();

    device_y.copy_to_host(y.data(), bytes);
    for (const float value : y) {
        if (value != 1.0F + 3.0F * 2.0F + 10 * 2.0F) {
            std::fprintf(stderr, "expected 27, found %g\n", static_cast<double>(value));
            return 1;
        }
    }
    std::printf("%zu values are right, on %s (%s)\n", y.size(), device.soc_name().c_str(), toolkit.name().c_str());
    return 0;
} catch (const aivops::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
