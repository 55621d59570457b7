// Device memory as DLPack arrays, in both directions. Ascend devices are DLPack's "extension device", on either
// toolkit.
#ifndef AIVOPS_BINDINGS_DLPACK_H
#define AIVOPS_BINDINGS_DLPACK_H

#include "aivops/dispatch/buffer.h"

#include <nanobind/nanobind.h>

#include <cstdint>
#include <tuple>
#include <vector>

namespace aivops::bindings {

inline constexpr std::int32_t kDlpackDeviceType = 12; // kDLExtDev

/// A capsule over `buffer`, which it keeps alive. Nothing is synchronised.
nanobind::capsule make_dlpack(const Buffer& buffer, const std::vector<std::int64_t>& shape, std::uint8_t code,
                              std::uint8_t bits, bool versioned);

/// Memory, shape, type code and bits of an array that lives on `device`; the array is kept alive.
std::tuple<Buffer, std::vector<std::int64_t>, std::uint8_t, std::uint8_t> open_dlpack(const Device& device,
                                                                                      nanobind::object array);

/// What a capsule with an array in host memory holds, which is taken out of it: the bytes from the first element to the
/// last as a numpy array that keeps them alive, shape, strides in elements, type code and bits.
std::tuple<nanobind::object, std::vector<std::int64_t>, std::vector<std::int64_t>, std::uint8_t, std::uint8_t>
open_host_dlpack(nanobind::capsule capsule);

} // namespace aivops::bindings

#endif // AIVOPS_BINDINGS_DLPACK_H
