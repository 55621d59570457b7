// Endpoints, memory and threads below communicators.
#ifndef HCOMM_RES_H
#define HCOMM_RES_H

#include "hcomm_res_defs.h"
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

HcommResult HcommEndpointCreate(const EndpointDesc* endpoint, EndpointHandle* endpointHandle);
HcommResult HcommEndpointDestroy(EndpointHandle endpointHandle);
HcommResult HcommEndpointGetDescNum(int32_t deviceLogicId, uint32_t* descNum);
HcommResult HcommEndpointGetDescs(int32_t deviceLogicId, uint32_t* descNum, EndpointDesc* endpointDescs);
HcommResult HcommMemReg(EndpointHandle endpointHandle, const char* memTag, const CommMem* mem,
                        HcommMemHandle* memHandle);
HcommResult HcommMemUnreg(EndpointHandle endpointHandle, HcommMemHandle memHandle);
HcommResult HcommMemExport(EndpointHandle endpointHandle, HcommMemHandle memHandle, void** memDesc,
                           uint32_t* memDescLen);
HcommResult HcommMemImport(EndpointHandle endpointHandle, const void* memDesc, uint32_t descLen, CommMem* outMem);
HcommResult HcommMemUnimport(EndpointHandle endpointHandle, const void* memDesc, uint32_t descLen);
HcommResult HcommThreadAlloc(CommEngine engine, uint32_t threadNum, const uint32_t* notifyNumPerThread,
                             ThreadHandle* threads);
HcommResult HcommThreadFree(const ThreadHandle* threads, uint32_t threadNum);
HcommResult HcommEndpointGetListenPort(EndpointHandle endpointHandle, uint32_t* port);
HcommResult HcommThreadResGetInfo(ThreadHandle thread, ThreadResType resType, uint32_t infoLen, void** info);
HcommResult HcommEndpointCheckFeature(HcommEndpointFeatureType featureType, const EndpointDesc* endpointDesc,
                                      bool* value);
HcommResult HcommMemAlloc(void** ptr, size_t size);
HcommResult HcommMemFree(void* ptr);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // HCOMM_RES_H
