// The ACL runtime interface, whole. Declarations are grouped by subject under acl/rt/.
#ifndef ACL_ACL_RT_H
#define ACL_ACL_RT_H

#include "acl/rt/binary.h"
#include "acl/rt/context.h"
#include "acl/rt/device.h"
#include "acl/rt/errors.h"
#include "acl/rt/event.h"
#include "acl/rt/launch.h"
#include "acl/rt/limits.h"
#include "acl/rt/memory.h"
#include "acl/rt/memory_sharing.h"
#include "acl/rt/stream.h"
#include "acl/rt/system.h"

#endif // ACL_ACL_RT_H
