// Teams over a communicator, their windows and channels.
#ifndef HCCL_HCCL_TEAM_H
#define HCCL_HCCL_TEAM_H

#include "hccl/hccl_types.h"
#include "hcomm_res_defs.h"
#include "hcomm_team_defs.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HCCL_TEAM_CREATE_DESC_MAGIC_WORD 0x0fcf0f14U
#define HCCL_TEAM_CREATE_CHANNELS_DESC_MAGIC_WORD 0x0fcf0f15U

typedef struct HcclTeamCreateDesc {
    CommAbiHeader header;
    const uint32_t* rankIds;
    uint32_t rankNum;
    uint32_t selfRankId;
    uint32_t netLayer;
    CommProtocol protocol;
    HcommTeamSyncMemRequirement requirement;
    uint32_t reserved[4];
} HcclTeamCreateDesc;

typedef struct HcclTeamCreateChannelsDesc {
    CommAbiHeader header;
    CommEngine engine;
    uint32_t notifyNum;
    CommProtocol protocol;
    uint32_t channelCnt;
    uint32_t reserved[4];
} HcclTeamCreateChannelsDesc;

static inline HcclResult HcclTeamCreateDescInit(HcclTeamCreateDesc* desc) {
    CommAbiHeader header = {1, HCCL_TEAM_CREATE_DESC_MAGIC_WORD, sizeof(HcclTeamCreateDesc), 0};
    if (desc == NULL) {
        return HCCL_E_PTR;
    }
    memset(desc, 0, sizeof *desc);
    desc->header = header;
    return HCCL_SUCCESS;
}

static inline HcclResult HcclTeamCreateChannelsDescInit(HcclTeamCreateChannelsDesc* desc) {
    CommAbiHeader header = {1, HCCL_TEAM_CREATE_CHANNELS_DESC_MAGIC_WORD, sizeof(HcclTeamCreateChannelsDesc), 0};
    if (desc == NULL) {
        return HCCL_E_PTR;
    }
    memset(desc, 0, sizeof *desc);
    desc->header = header;
    return HCCL_SUCCESS;
}

HcclResult HcclWorldTeamCreate(HcclComm comm, const HcclTeamCreateDesc* desc, HcommTeamHandle* worldTeam);
HcclResult HcclSubTeamCreate(HcommTeamHandle worldTeam, const HcclTeamCreateDesc* desc, HcommTeamHandle* team);
HcclResult HcclTeamDestroy(HcommTeamHandle team);
HcclResult HcclTeamWindowRegister(HcclComm comm, HcommTeamHandle worldTeam, const CommMem* localMem,
                                  HcommWindowHandle* window, uint32_t flag);
HcclResult HcclTeamWindowDeregister(HcommTeamHandle worldTeam, HcommWindowHandle window);
HcclResult HcclTeamChannelsCreate(HcclComm comm, HcommTeamHandle team, const HcclTeamCreateChannelsDesc* desc);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // HCCL_HCCL_TEAM_H
