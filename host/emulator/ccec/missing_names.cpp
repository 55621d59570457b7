#include "missing_names.h"

#include <algorithm>
#include <array>

namespace aivops::ccec {
namespace {

// Names of Ascend C that are not emulated. Written without their namespace they look like any undeclared name, so the
// driver must know them; the page of the toolkit's Ascend C shows this list.
constexpr std::array<std::string_view, 41> kNotEmulated{"AllocMutexID",
                                                        "AscendAntiQuant",
                                                        "AscendDequant",
                                                        "AscendQuant",
                                                        "Axpy",
                                                        "BlockReduceMax",
                                                        "BlockReduceMin",
                                                        "BlockReduceSum",
                                                        "Brcb",
                                                        "Broadcast",
                                                        "CopyRepeatParams",
                                                        "CreateVecIndex",
                                                        "Fixpipe",
                                                        "Gather",
                                                        "GatherMask",
                                                        "GmAlloc",
                                                        "GmFree",
                                                        "IBSet",
                                                        "IBWait",
                                                        "ICPU_RUN_KF",
                                                        "InitDetermineComputeWorkspace",
                                                        "LeakyRelu",
                                                        "KERNEL_TASK_TYPE",
                                                        "KERNEL_TASK_TYPE_DEFAULT",
                                                        "LoadData",
                                                        "LocalMemAllocator",
                                                        "Matmul",
                                                        "Mmad",
                                                        "Mutex",
                                                        "NotifyNextBlock",
                                                        "PairReduceSum",
                                                        "ReleaseMutexID",
                                                        "Scatter",
                                                        "ShiftLeft",
                                                        "ShiftRight",
                                                        "Sort32",
                                                        "SoftMax",
                                                        "TBufPool",
                                                        "TransDataTo5HD",
                                                        "Transpose",
                                                        "WaitPreBlock"};

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
        bool of_ascendc = words.size() >= 2 && words[1] == "AscendC"; // "'X' is not a member of 'AscendC'"
        for (std::string_view word : words) {
            bool known = std::find(kNotEmulated.begin(), kNotEmulated.end(), word) != kNotEmulated.end();
            bool missing = known || (of_ascendc && word == words[0]);
            if (missing && std::find(names.begin(), names.end(), word) == names.end())
                names.emplace_back(word);
        }
    }
    return names;
}

} // namespace aivops::ccec
