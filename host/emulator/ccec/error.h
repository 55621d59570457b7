// What a driver reports before or instead of the host compiler's own diagnostics; `main` prints it and returns 1.
#ifndef AIVOPS_EMULATOR_CCEC_ERROR_H
#define AIVOPS_EMULATOR_CCEC_ERROR_H

#include <stdexcept>

namespace aivops::ccec {

struct Error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

} // namespace aivops::ccec

#endif
