// What the checks of this process found, for programs that read it: JSON lines in a file of its own, in the folder that
// AIVOPS_EMU_REPORT names. Its records are described in docs/sanitize.md.
#ifndef AIVOPS_MACHINE_REPORT_FILE_H
#define AIVOPS_MACHINE_REPORT_FILE_H

#include "report.h"

#include <cstdint>
#include <string>

namespace aivops::machine {

enum class Severity { kError, kWarning };

/// The process begins to use a device, or has released one.
void report_stream_made();
void report_stream_gone();

/// A launch begins to be checked.
void report_launch(uint32_t device);

/// A finding; each distinct one is written once per process. `scene` is nullptr where no kernel is involved.
void report_finding(Severity severity, const Finding& finding, const Scene* scene);

/// What kernels do to GM is not watched, because other processes do what this one does not see.
void report_unwatched();

/// Nothing of a launch has moved for so long; later, that it has moved after all. A program that is ended meanwhile
/// leaves what it waited for.
void report_waiting(const Scene& scene, int64_t stalled_ns, const std::string& waiting);
void report_moved(const Scene& scene);

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_REPORT_FILE_H
