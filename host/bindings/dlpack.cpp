#include "dlpack.h"

#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstddef>
#include <memory>

namespace nb = nanobind;

namespace aivops::bindings {

namespace {

// The two forms of a DLPack array, as its ABI lays them out.
struct Tensor {
    void* data;
    std::int32_t device_type;
    std::int32_t device_id;
    std::int32_t dimensions;
    std::uint8_t code;
    std::uint8_t bits;
    std::uint16_t lanes;
    std::int64_t* shape;
    std::int64_t* strides;
    std::uint64_t byte_offset;
};

struct Managed {
    static constexpr const char* kName = "dltensor";
    static constexpr const char* kTakenName = "used_dltensor";
    Tensor tensor;
    void* context;
    void (*deleter)(Managed*);
};

struct ManagedVersioned {
    static constexpr const char* kName = "dltensor_versioned";
    static constexpr const char* kTakenName = "used_dltensor_versioned";
    static constexpr std::uint64_t kReadOnly = 1; // in flags
    std::uint32_t major;
    std::uint32_t minor;
    void* context;
    void (*deleter)(ManagedVersioned*);
    std::uint64_t flags;
    Tensor tensor;
};

/// What an exported array needs while anyone uses it.
template <class Form>
struct Export {
    Buffer buffer;
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> strides; // in elements; consumers of the versioned form want them
    Form form{};
};

std::vector<std::int64_t> contiguous_strides(const std::vector<std::int64_t>& shape) {
    std::vector<std::int64_t> strides(shape.size());
    std::int64_t step = 1;
    for (std::size_t i = shape.size(); i-- > 0;) {
        strides[i] = step;
        step *= shape[i];
    }
    return strides;
}

/// Frees an array that nobody took; a consumer renames the capsule.
template <class Form>
void drop_capsule(PyObject* capsule) {
    if (PyCapsule_IsValid(capsule, Form::kName)) {
        auto* form = static_cast<Form*>(PyCapsule_GetPointer(capsule, Form::kName));
        form->deleter(form);
    }
}

template <class Form>
nb::capsule make_capsule(const Buffer& buffer, const std::vector<std::int64_t>& shape, std::uint8_t code,
                         std::uint8_t bits) {
    auto made = std::make_unique<Export<Form>>(Export<Form>{buffer, shape, contiguous_strides(shape)});
    Form& form = made->form;
    form.tensor = {buffer.pointer(),
                   kDlpackDeviceType,
                   buffer.device().id(),
                   static_cast<std::int32_t>(shape.size()),
                   code,
                   bits,
                   1,
                   made->shape.data(),
                   made->strides.data(),
                   0};
    form.context = made.get();
    form.deleter = [](Form* form) { delete static_cast<Export<Form>*>(form->context); };
    if constexpr (std::is_same_v<Form, ManagedVersioned>) {
        form.major = 1;
        form.minor = 0;
    }
    PyObject* capsule = PyCapsule_New(&form, Form::kName, &drop_capsule<Form>);
    if (capsule == nullptr) {
        nb::raise_python_error();
    }
    made.release(); // the capsule's from here on
    return nb::steal<nb::capsule>(capsule);
}

using Taken = std::tuple<nb::object, std::vector<std::int64_t>, std::vector<std::int64_t>, std::uint8_t, std::uint8_t>;

template <class Form>
Taken take_host(const nb::capsule& capsule) {
    auto* form = static_cast<Form*>(PyCapsule_GetPointer(capsule.ptr(), Form::kName));
    PyCapsule_SetName(capsule.ptr(), Form::kTakenName);
    const nb::capsule owner(form, [](void* kept) noexcept {
        auto* form = static_cast<Form*>(kept);
        if (form->deleter != nullptr) {
            form->deleter(form);
        }
    });
    const Tensor& tensor = form->tensor;
    const std::vector<std::int64_t> shape(tensor.shape, tensor.shape + tensor.dimensions);
    const std::vector<std::int64_t> strides =
        tensor.strides == nullptr ? contiguous_strides(shape)
                                  : std::vector<std::int64_t>(tensor.strides, tensor.strides + tensor.dimensions);
    std::int64_t elements = 1;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        elements = shape[i] == 0 || elements == 0 ? 0 : elements + (shape[i] - 1) * strides[i];
    }
    const std::size_t bytes = static_cast<std::size_t>(std::max<std::int64_t>(elements, 0)) * tensor.bits / 8;
    void* const data = static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
    bool read_only = false;
    if constexpr (std::is_same_v<Form, ManagedVersioned>) {
        read_only = (form->flags & Form::kReadOnly) != 0;
    }
    nb::object array = read_only
                           ? nb::cast(nb::ndarray<nb::numpy, const std::uint8_t, nb::ndim<1>>(data, {bytes}, owner))
                           : nb::cast(nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>>(data, {bytes}, owner));
    return {std::move(array), shape, strides, tensor.code, tensor.bits};
}

} // namespace

Taken open_host_dlpack(nb::capsule capsule) {
    if (PyCapsule_IsValid(capsule.ptr(), ManagedVersioned::kName)) {
        return take_host<ManagedVersioned>(capsule);
    }
    if (PyCapsule_IsValid(capsule.ptr(), Managed::kName)) {
        return take_host<Managed>(capsule);
    }
    throw InvalidValueError("DLPack: the capsule holds no array, or somebody took it already");
}

nb::capsule make_dlpack(const Buffer& buffer, const std::vector<std::int64_t>& shape, std::uint8_t code,
                        std::uint8_t bits, bool versioned) {
    return versioned ? make_capsule<ManagedVersioned>(buffer, shape, code, bits)
                     : make_capsule<Managed>(buffer, shape, code, bits);
}

std::tuple<Buffer, std::vector<std::int64_t>, std::uint8_t, std::uint8_t> open_dlpack(const Device& device,
                                                                                      nb::object array) {
    using Array = nb::ndarray<>;
    auto opened = std::make_unique<Array>();
    if (!nb::try_cast(array, *opened)) {
        throw InvalidTypeError("Buffer.from_dlpack(): a " + nb::cast<std::string>(array.type().attr("__name__")) +
                               " is no array that speaks DLPack");
    }
    if (opened->device_type() != kDlpackDeviceType || opened->device_id() != device.id()) {
        throw InvalidValueError("Buffer: the array is on DLPack device (" + std::to_string(opened->device_type()) +
                                ", " + std::to_string(opened->device_id()) + "), expected (" +
                                std::to_string(kDlpackDeviceType) + ", " + std::to_string(device.id()) +
                                "); copy it with Buffer.copy_from");
    }
    std::vector<std::int64_t> shape(opened->ndim());
    for (std::size_t i = 0; i < shape.size(); ++i) {
        shape[i] = static_cast<std::int64_t>(opened->shape(i));
    }
    const std::vector<std::int64_t> strides = contiguous_strides(shape);
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (shape[i] > 1 && opened->stride(i) != strides[i]) {
            throw InvalidValueError("Buffer: the array is not contiguous; make it so first");
        }
    }
    void* data = opened->data();
    const std::size_t bytes = opened->nbytes();
    const auto type = opened->dtype();
    // The last copy may go on any thread, so the array is given back under the GIL.
    const std::shared_ptr<void> owner(opened.release(), [](void* kept) {
        const nb::gil_scoped_acquire gil;
        if (gil.is_valid()) {
            delete static_cast<Array*>(kept);
        }
    });
    return {Buffer::borrow(device, data, bytes, owner), std::move(shape), static_cast<std::uint8_t>(type.code),
            static_cast<std::uint8_t>(type.bits)};
}

} // namespace aivops::bindings
