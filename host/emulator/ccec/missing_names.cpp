#include "missing_names.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace aivops::ccec {
namespace {

// Names of Ascend C that are not emulated. Written without their namespace they look like any undeclared name, so the
// driver must know them; the page of the toolkit's Ascend C shows this list.
constexpr std::array<std::string_view, 164> kNotEmulated{"AddDeqRelu",
                                                         "AddRelu",
                                                         "AllocMutexID",
                                                         "ASCEND_IS_NOT_AIC",
                                                         "ASCEND_IS_NOT_AIV",
                                                         "AscendAntiQuant",
                                                         "AscendDequant",
                                                         "AscendQuant",
                                                         "ASSERT",
                                                         "Axpy",
                                                         "BilinearInterpolation",
                                                         "BlockReduceMax",
                                                         "BlockReduceMin",
                                                         "BlockReduceSum",
                                                         "Brcb",
                                                         "Broadcast",
                                                         "CastDeq",
                                                         "ClearWorkspace",
                                                         "Compares",
                                                         "Concat",
                                                         "Conv2D",
                                                         "Copy",
                                                         "copy_gm_to_ubuf",
                                                         "copy_gm_to_ubuf_align",
                                                         "copy_gm_to_ubuf_align_b16",
                                                         "copy_gm_to_ubuf_align_b32",
                                                         "copy_gm_to_ubuf_align_b8",
                                                         "copy_gm_to_ubuf_align_v2",
                                                         "copy_ubuf_to_gm",
                                                         "copy_ubuf_to_gm_align",
                                                         "copy_ubuf_to_gm_align_b16",
                                                         "copy_ubuf_to_gm_align_b32",
                                                         "copy_ubuf_to_gm_align_b8",
                                                         "copy_ubuf_to_gm_align_v2",
                                                         "copy_ubuf_to_ubuf",
                                                         "CopyRepeatParams",
                                                         "CreateVecIndex",
                                                         "Cumsum",
                                                         "DataCachePreload",
                                                         "DataCopyEnhancedParams",
                                                         "dc_preload",
                                                         "dcci",
                                                         "DeInterleave",
                                                         "dsb",
                                                         "DumpAccChkPoint",
                                                         "Extract",
                                                         "ffts_cross_core_sync",
                                                         "Fill",
                                                         "Fixpipe",
                                                         "FusedMulAdd",
                                                         "g_coreType",
                                                         "Gather",
                                                         "GatherMask",
                                                         "Gemm",
                                                         "get_block_idx",
                                                         "get_block_num",
                                                         "get_buf",
                                                         "get_coreid",
                                                         "get_ctrl",
                                                         "get_imm",
                                                         "get_subblockdim",
                                                         "get_subblockid",
                                                         "get_sys_cnt",
                                                         "GET_TILING_DATA",
                                                         "GET_TILING_DATA_MEMBER",
                                                         "GET_TILING_DATA_WITH_STRUCT",
                                                         "GetCmpMask",
                                                         "GetReduceMaxMinCount",
                                                         "GetSpr",
                                                         "GetSysWorkSpacePtr",
                                                         "GetUserWorkspace",
                                                         "GmAlloc",
                                                         "GmFree",
                                                         "GroupBarrier",
                                                         "Hccl",
                                                         "HCCL_SERVER_TYPE_AICPU",
                                                         "IBSet",
                                                         "IBWait",
                                                         "ICachePreLoad",
                                                         "ICPU_RUN_KF",
                                                         "InitConstValue",
                                                         "InitDetermineComputeWorkspace",
                                                         "InitGlobalMemory",
                                                         "Interleave",
                                                         "KERNEL_TASK_TYPE",
                                                         "KERNEL_TASK_TYPE_DEFAULT",
                                                         "KERNEL_TYPE_AIV_ONLY",
                                                         "KERNEL_TYPE_MIX_AIV_1_0",
                                                         "LeakyRelu",
                                                         "ListTensorDesc",
                                                         "LoadData",
                                                         "LoadImageToLocal",
                                                         "LocalMemAllocator",
                                                         "Matmul",
                                                         "Mmad",
                                                         "MrgSort",
                                                         "MulAddDst",
                                                         "Mutex",
                                                         "Nd2NzParams",
                                                         "NotifyNextBlock",
                                                         "Nz2NdParamsFull",
                                                         "PairReduceSum",
                                                         "Power",
                                                         "ProposalConcat",
                                                         "ReduceProd",
                                                         "REGISTER_TILING_DEFAULT",
                                                         "ReleaseMutexID",
                                                         "rls_buf",
                                                         "RpSort16",
                                                         "Scatter",
                                                         "set_atomic_add",
                                                         "set_atomic_bf16",
                                                         "set_atomic_f16",
                                                         "set_atomic_f32",
                                                         "set_atomic_max",
                                                         "set_atomic_min",
                                                         "set_atomic_none",
                                                         "set_atomic_s16",
                                                         "set_atomic_s32",
                                                         "set_atomic_s8",
                                                         "set_ctrl",
                                                         "set_ffts_base_addr",
                                                         "set_mask_count",
                                                         "set_mask_norm",
                                                         "set_vector_mask",
                                                         "SetCmpMask",
                                                         "SetSpr",
                                                         "SetSysWorkspace",
                                                         "ShapeInfo",
                                                         "ShiftLeft",
                                                         "ShiftRight",
                                                         "Sigmoid",
                                                         "Sin",
                                                         "SliceInfo",
                                                         "SoftMax",
                                                         "Sort",
                                                         "Sort32",
                                                         "SubRelu",
                                                         "Tanh",
                                                         "TBufPool",
                                                         "TensorDesc",
                                                         "TILING_KEY_IS",
                                                         "TQueConfig",
                                                         "TransData",
                                                         "TransDataTo5HD",
                                                         "Transpose",
                                                         "vabs",
                                                         "vadd",
                                                         "vadds",
                                                         "vconv_f162f32",
                                                         "vconv_f322f16",
                                                         "vdiv",
                                                         "vector_dup",
                                                         "vexp",
                                                         "vln",
                                                         "vmax",
                                                         "vmin",
                                                         "vmul",
                                                         "vmuls",
                                                         "vsqrt",
                                                         "vsub",
                                                         "wait_flag_dev",
                                                         "WaitPreBlock",
                                                         "Xor"};

// The words in quotes of one message, in order.
std::vector<std::string_view> quoted_words(std::string_view line) {
    std::vector<std::string_view> words;
    for (std::size_t open = 0; (open = line.find('\'', open)) != std::string_view::npos;) {
        std::size_t close = line.find('\'', open + 1);
        if (close == std::string_view::npos)
            break;
        words.push_back(line.substr(open + 1, close - open - 1));
        open = close + 1;
    }
    return words;
}

// What begins with a small letter is built into the Ascend compiler, and what has no small letter is a macro.
bool is_of_namespace(std::string_view name) {
    return std::isupper(static_cast<unsigned char>(name.front())) != 0 &&
           std::any_of(name.begin(), name.end(), [](unsigned char c) { return std::islower(c) != 0; });
}

// "AscendC::LocalTensor::Print" of a message that 'Print' is no member of 'AscendC::LocalTensor<float>',
// "AscendC::Print" of one of the namespace, in the words of either compiler; nothing of any other.
std::string missing_member(std::string_view line, const std::vector<std::string_view>& words) {
    constexpr std::array<std::string_view, 3> kPhrases{"member", "does not name a", "no type named"};
    if (words.size() < 2 || std::none_of(kPhrases.begin(), kPhrases.end(), [&](std::string_view phrase) {
            return line.find(phrase) != std::string_view::npos;
        }))
        return {};
    for (std::size_t index : {0, 1}) {
        std::string_view owner = words[index];
        for (std::string_view before : {"class ", "struct ", "const "}) {
            if (owner.starts_with(before))
                owner.remove_prefix(before.size());
        }
        std::string_view name = words[1 - index];
        bool plain = std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
        constexpr std::string_view kNamespace = "AscendC";
        if (!plain || !owner.starts_with(kNamespace))
            continue;
        owner.remove_prefix(kNamespace.size());
        owner = owner.substr(0, owner.find('<'));
        if (owner.starts_with("::"))
            return "AscendC" + std::string(owner) + "::" + std::string(name);
        if (owner.empty())
            return "AscendC::" + std::string(name);
    }
    return {};
}

} // namespace

std::vector<std::string> missing_names(std::string_view messages) {
    std::vector<std::string> names;
    while (!messages.empty()) {
        std::size_t end = std::min(messages.find('\n'), messages.size());
        std::string_view line = messages.substr(0, end);
        messages.remove_prefix(std::min(end + 1, messages.size()));
        if (line.find("error: ") == std::string_view::npos)
            continue;
        std::vector<std::string_view> words = quoted_words(line);
        std::vector<std::string> missing;
        if (std::string member = missing_member(line, words); !member.empty())
            missing.push_back(member);
        for (std::string_view word : words) {
            if (std::find(kNotEmulated.begin(), kNotEmulated.end(), word) != kNotEmulated.end())
                missing.push_back(is_of_namespace(word) ? "AscendC::" + std::string(word) : std::string(word));
        }
        for (const std::string& name : missing) {
            if (std::find(names.begin(), names.end(), name) == names.end())
                names.push_back(name);
        }
    }
    return names;
}

} // namespace aivops::ccec
