// A toolkit in use: a directory laid out like CANN whose runtime library this process has opened. There is one per
// process, it stays open until the process ends, and aclFinalize is never called: others in the process may still need
// ACL.
#ifndef AIVOPS_DISPATCH_TOOLKIT_H
#define AIVOPS_DISPATCH_TOOLKIT_H

#include "aivops/cann/library.h"
#include "aivops/dispatch/check.h"
#include "aivops/dispatch/fork_guard.h"
#include "aivops/dispatch/soc.h"
#include "aivops/dispatch/toolkit_info.h"

#include <map>
#include <mutex>
#include <string>

namespace aivops {

class Toolkit {
  public:
    /// Opens the toolkit at `root`, or returns it when it is open. Throws ToolkitError.
    static const Toolkit& open(const std::filesystem::path& root);

    Toolkit(const Toolkit&) = delete;
    Toolkit& operator=(const Toolkit&) = delete;

    const std::filesystem::path& root() const { return info_.root; }
    /// "cann" or what the toolkit calls itself, e.g. "aivops-emulator".
    const std::string& name() const { return info_.name; }
    const std::string& version() const { return info_.version; }
    /// Machine of the binaries it runs: "ascend", "emulated-x86_64", "emulated-aarch64".
    const std::string& machine() const { return info_.machine; }
    const ToolkitInfo& info() const { return info_; }
    const std::filesystem::path& library() const { return runtime_.library; }

    /// The function table. Throws ForkError in a forked child.
    const cann::FunctionTable& acl() const {
        detail::refuse_forked_child();
        return runtime_.functions;
    }

    /// An optional function of the table, or a ToolkitError that names it.
    template <class Function>
    Function require(Function function, const char* name) const {
        if (function == nullptr) {
            throw ToolkitError(describe() + ": " + library().string() + " lacks " + name +
                               ", which this operation needs; use a newer toolkit");
        }
        return function;
    }

    std::uint32_t device_count() const {
        std::uint32_t count = 0;
        check(acl(), acl().aclrtGetDeviceCount(&count), "aclrtGetDeviceCount", [&] { return describe(); });
        return count;
    }

    /// As aclrtGetSocName spells it.
    std::string soc_name() const {
        const char* name = acl().aclrtGetSocName();
        if (name == nullptr) {
            const char* pending = acl().aclGetRecentErrMsg();
            throw ToolkitError(describe() + ": " +
                               (pending != nullptr
                                    ? pending
                                    : "aclrtGetSocName knows no chip; check the NPU driver with npu-smi info"));
        }
        return name;
    }

    /// Compiler architecture of the vector cores, e.g. "dav-c220-vec".
    std::string architecture() const {
        const std::string soc = soc_name();
        const char* found = find_architecture(soc);
        if (found == nullptr) {
            throw ToolkitError(describe() + ": the chip " + soc +
                               " has no vector cores that AivOps knows; it knows Ascend910B1 to B4, Ascend910_93xx, "
                               "Ascend950 and Ascend350");
        }
        return found;
    }

    std::string describe() const { return "Toolkit " + name() + " " + version() + " at " + root().string(); }

  private:
    explicit Toolkit(ToolkitInfo info) : info_(std::move(info)), runtime_(cann::open_runtime(info_.root)) {
        detail::watch_for_fork();
        // Counted by ACL; "initialised already" is the answer beside another user of it.
        const aclError code = runtime_.functions.aclInit(nullptr);
        if (code != ACL_ERROR_REPEAT_INITIALIZE) {
            check(runtime_.functions, code, "aclInit", [&] { return describe(); });
        }
    }

    ToolkitInfo info_;
    cann::Runtime runtime_;
};

inline const Toolkit& Toolkit::open(const std::filesystem::path& root) {
    static std::mutex mutex;
    // Never destroyed: objects that outlive main() may still release device memory.
    static auto* open_toolkits = new std::map<std::filesystem::path, const Toolkit*>;
    ToolkitInfo info = read_toolkit_info(root);
    const std::lock_guard<std::mutex> lock(mutex);
    const Toolkit*& toolkit = (*open_toolkits)[info.root];
    if (toolkit == nullptr) {
        toolkit = new Toolkit(std::move(info));
    }
    return *toolkit;
}

} // namespace aivops

#endif // AIVOPS_DISPATCH_TOOLKIT_H
