// What the host knows of the element types and operators that kernels name: widths, names for people and for kernels.
// The numbers are those of aivops/fingerprint.h, which the kernels' calls are stamped with.
#pragma once

#include <aivops/fingerprint.h>

#include <string>
#include <string_view>

namespace aivops {

unsigned width_of(DataType type);

// As numpy and ml_dtypes spell it, e.g. "float16", "float8_e4m3fn"; "hifloat8" has no numpy type.
std::string_view name_of(DataType type);

// As kernels spell it, e.g. "half", "fp8_e4m3fn_t".
std::string_view kernel_suffix(DataType type);

// Whether reductions take the type.
bool is_reducible(DataType type);
std::string reducible_names();

std::string_view name_of(Operator operation);
std::string_view name_of(Reduction reduction);

// What a name stands for; InvalidValueError lists the names when there is none of this one.
Operator require_operator(std::string_view name);
DataType require_type(std::string_view name);
Reduction require_reduction(std::string_view name);

// A call in words, e.g. "all_gather of 1000 float16 on 4 blocks".
std::string describe(const Call& call);

} // namespace aivops
