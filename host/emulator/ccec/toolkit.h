// Where the running driver's own toolkit lies: <root>/tools/ccec_compiler/bin/<driver>.
#ifndef AIVOPS_EMULATOR_CCEC_TOOLKIT_H
#define AIVOPS_EMULATOR_CCEC_TOOLKIT_H

#include <filesystem>

namespace aivops::ccec {

// The toolkit's folder of Ascend C headers; an Error when the toolkit this driver belongs to has none.
std::filesystem::path ascendc_include_directory();

// The page of the toolkit that lists the Ascend C it has.
std::filesystem::path ascendc_page();

} // namespace aivops::ccec

#endif
