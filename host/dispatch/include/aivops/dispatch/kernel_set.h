// The kernels that a package ships: a folder with manifest.json. Picks the binaries for the machine and architecture of
// a toolkit; each is read and checked once, when the first of its kernels is asked for.
#ifndef AIVOPS_DISPATCH_KERNEL_SET_H
#define AIVOPS_DISPATCH_KERNEL_SET_H

#include "aivops/dispatch/kernel.h"

#include <map>
#include <mutex>
#include <set>

namespace aivops {

class KernelSet {
  public:
    /// Opens the folder, or returns it when this process has it open. Throws BinaryError when the manifest cannot be
    /// used or has nothing for this toolkit.
    static const KernelSet& open(const Toolkit& toolkit, const std::filesystem::path& folder) {
        static std::mutex mutex;
        static auto* sets = new std::map<std::pair<const Toolkit*, std::filesystem::path>, const KernelSet*>;
        const std::lock_guard<std::mutex> lock(mutex);
        const KernelSet*& set = (*sets)[{&toolkit, folder}];
        if (set == nullptr) {
            set = new KernelSet(toolkit, folder);
        }
        return *set;
    }

    KernelSet(const KernelSet&) = delete;
    KernelSet& operator=(const KernelSet&) = delete;

    const std::filesystem::path& folder() const { return folder_; }

    std::vector<std::string> kernel_names() const {
        std::vector<std::string> names;
        for (const auto& entry : entry_of_kernel_) {
            names.push_back(entry.first);
        }
        return names;
    }

    /// Throws InvalidValueError when there is no such kernel, BinaryError when its file is not the one of the manifest.
    Kernel get_kernel(const std::string& name) const {
        const auto found = entry_of_kernel_.find(name);
        if (found == entry_of_kernel_.end()) {
            std::vector<std::string_view> names;
            for (const auto& entry : entry_of_kernel_) {
                names.push_back(entry.first);
            }
            throw InvalidValueError("Kernels at " + folder_.string() + ": have no kernel " + name + " for " +
                                    toolkit_.machine() + ", " + toolkit_.architecture() + detail::suggest(name, names) +
                                    "; they have " + detail::list_names(name, names));
        }
        return load(found->second).get_kernel(name);
    }

  private:
    KernelSet(const Toolkit& toolkit, const std::filesystem::path& folder)
        : toolkit_(toolkit), folder_(folder), manifest_path_(folder / "manifest.json") {
        try {
            manifest_ = kernel_binary::read_manifest(manifest_path_);
        } catch (const std::runtime_error& error) {
            throw BinaryError("Kernels at " + folder_.string() + ": " + error.what());
        }
        const std::string architecture = toolkit_.architecture();
        for (std::size_t i = 0; i < manifest_.binaries.size(); ++i) {
            const kernel_binary::ManifestBinary& entry = manifest_.binaries[i];
            if (entry.machine != toolkit_.machine() || entry.architecture != architecture) {
                continue;
            }
            for (const kernel_binary::ManifestKernel& kernel : entry.kernels) {
                const auto [known, added] = entry_of_kernel_.emplace(kernel.name, i);
                if (!added) {
                    throw BinaryError("Kernels at " + folder_.string() + ": kernel " + kernel.name +
                                      " is in two binaries, " + manifest_.binaries[known->second].path + " and " +
                                      entry.path + "; rename one of them");
                }
            }
        }
        if (entry_of_kernel_.empty()) {
            refuse_nothing_fits(architecture);
        }
    }

    [[noreturn]] void refuse_nothing_fits(const std::string& architecture) const {
        std::set<std::string> present;
        for (const kernel_binary::ManifestBinary& entry : manifest_.binaries) {
            present.insert(entry.machine + " (" + entry.architecture + ")");
        }
        std::string text;
        for (const std::string& machine : present) {
            text += (text.empty() ? "" : ", ") + machine;
        }
        throw BinaryError("Kernels at " + folder_.string() + ": have no kernel for " + toolkit_.machine() + " (" +
                          architecture + "), which " + toolkit_.describe() + " needs; they have " +
                          (text.empty() ? "none at all" : text) +
                          ". Build the package with this toolkit: ASCEND_HOME_PATH=" + toolkit_.root().string() +
                          " pip install --no-binary :all: --no-deps <package>");
    }

    const Binary& load(std::size_t index) const {
        const std::lock_guard<std::mutex> lock(mutex_);
        auto found = loaded_.find(index);
        if (found == loaded_.end()) {
            found = loaded_.emplace(index, Binary::from_manifest(toolkit_, manifest_path_, manifest_.binaries[index]))
                        .first;
        }
        return found->second;
    }

    const Toolkit& toolkit_;
    std::filesystem::path folder_;
    std::filesystem::path manifest_path_;
    kernel_binary::Manifest manifest_;
    std::map<std::string, std::size_t> entry_of_kernel_;
    mutable std::mutex mutex_;
    mutable std::map<std::size_t, Binary> loaded_;
};

} // namespace aivops

#endif // AIVOPS_DISPATCH_KERNEL_SET_H
