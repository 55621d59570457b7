// The header that host programs include.
#ifndef ACL_ACL_H
#define ACL_ACL_H

#include "acl/acl_base.h"
#include "acl/acl_rt.h"

#endif // ACL_ACL_H
