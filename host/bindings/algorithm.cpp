// Algorithms that other packages register; aivops._algorithms wraps this.
#include "register.h"

#include "algorithm.h"
#include "types.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

namespace nb = nanobind;
using namespace nb::literals;

namespace aivops::bindings {

namespace {

std::vector<std::string> kernels_of(Operator operation, const std::string& kernel,
                                    const std::vector<std::string>& types) {
    if (operation == Operator::kBarrier) {
        return {kernel};
    }
    std::vector<std::string> names;
    for (const std::string& type : types) {
        names.push_back(kernel + "_" + std::string(kernel_suffix(require_type(type))));
    }
    return names;
}

} // namespace

void register_algorithm(nb::module_& m) {
    m.def(
        "register_algorithm",
        [](const std::string& operation, std::string name, const KernelSet& kernels, std::string kernel,
           const std::vector<std::string>& types, std::pair<uint32_t, uint32_t> ranks,
           std::pair<uint64_t, uint64_t> bytes, std::vector<std::string> architectures, bool registered, bool in_place,
           bool preferred) {
            Algorithm algorithm{
                require_operator(operation), std::move(name), std::move(kernel), {}, &kernels, preferred};
            Constraints& asked = algorithm.constraints;
            std::transform(types.begin(), types.end(), std::back_inserter(asked.types),
                           [](const std::string& type) { return require_type(type); });
            asked.fewest_ranks = ranks.first;
            asked.most_ranks = ranks.second;
            asked.fewest_bytes = bytes.first;
            asked.most_bytes = bytes.second;
            asked.architectures = std::move(architectures);
            asked.registered_input = asked.registered_output = registered;
            asked.apart = !in_place;
            aivops::register_algorithm(std::move(algorithm));
        },
        "operation"_a, "name"_a, nb::kw_only(), "kernels"_a, "kernel"_a, "types"_a, "ranks"_a, "bytes"_a,
        "architectures"_a, "registered"_a, "in_place"_a, "preferred"_a);

    m.def(
        "algorithm_kernels",
        [](const std::string& operation, const std::string& kernel, const std::vector<std::string>& types) {
            return kernels_of(require_operator(operation), kernel, types);
        },
        "operation"_a, "kernel"_a, "types"_a, "The names of the kernels that an algorithm has to have.");
}

} // namespace aivops::bindings
