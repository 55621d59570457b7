// The name under which programs include the base declarations.
#ifndef ACL_ACL_BASE_H
#define ACL_ACL_BASE_H

#include "acl/acl_base_rt.h"

#endif // ACL_ACL_BASE_H
