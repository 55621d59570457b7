// Dispatch: open a toolkit, get a device, load a kernel binary, launch its kernels. Header-only C++17.
#ifndef AIVOPS_DISPATCH_H
#define AIVOPS_DISPATCH_H

#include "aivops/dispatch/binary.h"
#include "aivops/dispatch/buffer.h"
#include "aivops/dispatch/device.h"
#include "aivops/dispatch/event.h"
#include "aivops/dispatch/kernel.h"
#include "aivops/dispatch/kernel_set.h"
#include "aivops/dispatch/launch_config.h"
#include "aivops/dispatch/prepared_launch.h"
#include "aivops/dispatch/stream.h"
#include "aivops/dispatch/toolkit.h"
#include "aivops/dispatch/toolkit_selection.h"

#endif // AIVOPS_DISPATCH_H
