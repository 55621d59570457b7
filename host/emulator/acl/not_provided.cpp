// Functions of the interface that the emulated toolkit does not provide: each says its name and returns 207000.
// The ACL headers are left out on purpose: these definitions take whatever arguments the caller's declaration has.

namespace aivops::acl {
int not_provided(const char* function);
}

#define AIVOPS_NOT_PROVIDED(name)                                                                                      \
    extern "C" __attribute__((visibility("default"))) int name() {                                                     \
        return aivops::acl::not_provided(#name);                                                                       \
    }

AIVOPS_NOT_PROVIDED(aclrtBinaryGetDevAddress)
AIVOPS_NOT_PROVIDED(aclrtCheckMemType)
AIVOPS_NOT_PROVIDED(aclrtDeviceGetLimit)
AIVOPS_NOT_PROVIDED(aclrtDeviceSetLimit)
AIVOPS_NOT_PROVIDED(aclrtFreePhysical)
AIVOPS_NOT_PROVIDED(aclrtFunctionGetAvailDynUbufPerBlock)
AIVOPS_NOT_PROVIDED(aclrtGetArgsFromExceptionInfo)
AIVOPS_NOT_PROVIDED(aclrtGetDeviceUtilizationRate)
AIVOPS_NOT_PROVIDED(aclrtGetErrorVerbose)
AIVOPS_NOT_PROVIDED(aclrtGetFuncBySymbol)
AIVOPS_NOT_PROVIDED(aclrtGetHardwareSyncAddr)
AIVOPS_NOT_PROVIDED(aclrtGetSymbolAddress)
AIVOPS_NOT_PROVIDED(aclrtGetSymbolSize)
AIVOPS_NOT_PROVIDED(aclrtHostGetDevicePointer)
AIVOPS_NOT_PROVIDED(aclrtHostRegister)
AIVOPS_NOT_PROVIDED(aclrtHostRegisterV2)
AIVOPS_NOT_PROVIDED(aclrtHostUnregister)
AIVOPS_NOT_PROVIDED(aclrtIpcGetEventHandle)
AIVOPS_NOT_PROVIDED(aclrtIpcMemImportPidInterServer)
AIVOPS_NOT_PROVIDED(aclrtIpcMemSetAttr)
AIVOPS_NOT_PROVIDED(aclrtIpcOpenEventHandle)
AIVOPS_NOT_PROVIDED(aclrtMallocPhysical)
AIVOPS_NOT_PROVIDED(aclrtMapMem)
AIVOPS_NOT_PROVIDED(aclrtMemExportToShareableHandle)
AIVOPS_NOT_PROVIDED(aclrtMemExportToShareableHandleV2)
AIVOPS_NOT_PROVIDED(aclrtMemGetAccess)
AIVOPS_NOT_PROVIDED(aclrtMemGetAllocationGranularity)
AIVOPS_NOT_PROVIDED(aclrtMemImportFromShareableHandle)
AIVOPS_NOT_PROVIDED(aclrtMemImportFromShareableHandleV2)
AIVOPS_NOT_PROVIDED(aclrtMemSetAccess)
AIVOPS_NOT_PROVIDED(aclrtMemSetPidToShareableHandle)
AIVOPS_NOT_PROVIDED(aclrtMemSetPidToShareableHandleV2)
AIVOPS_NOT_PROVIDED(aclrtRegDeviceStateCallback)
AIVOPS_NOT_PROVIDED(aclrtRegisterCpuFunc)
AIVOPS_NOT_PROVIDED(aclrtReleaseMemAddress)
AIVOPS_NOT_PROVIDED(aclrtRepairError)
AIVOPS_NOT_PROVIDED(aclrtReserveMemAddress)
AIVOPS_NOT_PROVIDED(aclrtStreamStop)
AIVOPS_NOT_PROVIDED(aclrtUnmapMem)
AIVOPS_NOT_PROVIDED(aclsysGetVersionNum)
AIVOPS_NOT_PROVIDED(aclsysGetVersionStr)
