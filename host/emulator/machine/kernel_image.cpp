#include "kernel_image.h"

#include "line_table.h"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <limits>
#include <link.h>
#include <map>
#include <mutex>
#include <span>
#include <sys/mman.h>
#include <unistd.h>

namespace aivops::machine {
namespace {

#if defined(__x86_64__)
constexpr uint16_t kHostMachine = EM_X86_64;
#else
constexpr uint16_t kHostMachine = EM_AARCH64;
#endif

constexpr std::string_view kMetaPrefix = ".ascend.meta.";
constexpr size_t kLongestName = 4096;

using Bytes = std::span<const std::byte>;

template <typename T>
bool read(Bytes bytes, uint64_t offset, T& value) {
    if (offset > bytes.size() || sizeof(T) > bytes.size() - offset) {
        return false;
    }
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
    return true;
}

Bytes cut(Bytes bytes, uint64_t offset, uint64_t size) {
    if (offset > bytes.size() || size > bytes.size() - offset) {
        return {};
    }
    return bytes.subspan(offset, size);
}

std::string_view text_at(Bytes strings, uint64_t offset) {
    if (offset >= strings.size()) {
        return {};
    }
    const char* begin = reinterpret_cast<const char*>(strings.data()) + offset;
    return {begin, strnlen(begin, strings.size() - offset)};
}

struct Section {
    std::string_view name;
    uint32_t type;
    uint32_t link;
    Bytes content;
};

class Reader {
  public:
    Reader(Bytes bytes, std::string& error) : bytes_(bytes), error_(error) {}

    bool sections() {
        Elf64_Ehdr header;
        if (!read(bytes_, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
            return refuse("is not an ELF file");
        }
        if (header.e_ident[EI_CLASS] != ELFCLASS64) {
            return refuse("is not a 64-bit ELF file");
        }
        if (header.e_machine != kHostMachine) {
            return refuse("is for ELF machine " + std::to_string(header.e_machine) +
                          "; the emulator of this machine runs " + std::to_string(kHostMachine) +
                          "; build the kernels with the emulated toolkit's ccec");
        }
        if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shnum == 0) {
            return refuse("has no usable section headers");
        }
        std::vector<Elf64_Shdr> headers(header.e_shnum);
        for (size_t index = 0; index < headers.size(); ++index) {
            Elf64_Shdr& section = headers[index];
            if (!read(bytes_, header.e_shoff + index * sizeof(Elf64_Shdr), section)) {
                return refuse("ends inside its section headers");
            }
            if (section.sh_link > header.e_shnum) {
                return refuse("has a section that links to none");
            }
            if (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL && section.sh_size != 0 &&
                cut(bytes_, section.sh_offset, section.sh_size).empty()) {
                return refuse("ends inside a section");
            }
        }
        Bytes names;
        if (header.e_shstrndx < headers.size()) {
            names = cut(bytes_, headers[header.e_shstrndx].sh_offset, headers[header.e_shstrndx].sh_size);
        }
        for (const Elf64_Shdr& section : headers) {
            Bytes content;
            if (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL) {
                content = cut(bytes_, section.sh_offset, section.sh_size);
            }
            sections_.push_back({text_at(names, section.sh_name), section.sh_type, section.sh_link, content});
        }
        return true;
    }

    bool contract(uint32_t& npu_arch) {
        const Section* section = find(AIVOPS_EMU_CONTRACT_SECTION);
        AivEmuContractRecord record;
        if (section == nullptr || !read(section->content, 0, record) ||
            std::memcmp(record.magic, AIVOPS_EMU_CONTRACT_MAGIC, sizeof record.magic) != 0) {
            return refuse("carries no record of the emulator's contract; build it with the emulated toolkit's ccec");
        }
        if (record.contract_version != AIVOPS_EMU_CONTRACT_VERSION) {
            return refuse("was built for version " + std::to_string(record.contract_version) +
                          " of the emulator's contract; this emulator runs version " +
                          std::to_string(AIVOPS_EMU_CONTRACT_VERSION) + "; build it again");
        }
        npu_arch = record.npu_arch;
        return true;
    }

    bool kernels(std::vector<KernelInfo>& kernels, CoreType default_core) {
        auto symbols = std::find_if(sections_.begin(), sections_.end(),
                                    [](const Section& section) { return section.type == SHT_SYMTAB; });
        if (symbols == sections_.end() || symbols->content.empty() || symbols->link >= sections_.size()) {
            return refuse("has no symbol table; do not strip kernel binaries");
        }
        Bytes strings = sections_[symbols->link].content;
        bool functions = false;
        Elf64_Sym symbol;
        for (uint64_t offset = 0; read(symbols->content, offset, symbol); offset += sizeof symbol) {
            if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) {
                continue;
            }
            functions = true;
            std::string_view name = text_at(strings, symbol.st_name);
            if (ELF64_ST_BIND(symbol.st_info) != STB_GLOBAL || ELF64_ST_VISIBILITY(symbol.st_other) == STV_HIDDEN ||
                symbol.st_shndx == SHN_UNDEF || name.size() >= kLongestName) {
                continue;
            }
            if (name.empty()) {
                return refuse("has a kernel without a name");
            }
            KernelInfo kernel;
            kernel.symbol = name;
            kernel.name = registered_name(name);
            kernel.core = default_core;
            kernel.offset = symbol.st_value;
            kernel.size = symbol.st_size;
            kernel.entry_key = key_of(kernel.name);
            if (!describe(kernel)) {
                return false;
            }
            kernels.push_back(std::move(kernel));
        }
        if (!functions) {
            return refuse("has no function in its symbol table");
        }
        std::sort(kernels.begin(), kernels.end(),
                  [](const KernelInfo& left, const KernelInfo& right) { return left.name < right.name; });
        auto twin = std::adjacent_find(kernels.begin(), kernels.end(),
                                       [](const auto& left, const auto& right) { return left.name == right.name; });
        return twin == kernels.end() || refuse("has two kernels called " + twin->name);
    }

  private:
    bool refuse(const std::string& why) {
        error_ = why;
        return false;
    }

    const Section* find(std::string_view name) const {
        for (const Section& section : sections_) {
            if (section.name == name) {
                return &section;
            }
        }
        return nullptr;
    }

    static std::string registered_name(std::string_view symbol) {
        std::string name(symbol);
        for (std::string_view mark : {"_mix_aic", "_mix_aiv"}) {
            if (size_t at = name.rfind(mark); at != std::string::npos) {
                return name.erase(at, mark.size());
            }
        }
        return name;
    }

    static uint64_t key_of(const std::string& name) {
        size_t at = name.rfind('_');
        if (at == std::string::npos || at + 1 == name.size() ||
            name.find_first_not_of("0123456789", at + 1) != std::string::npos) {
            return 0;
        }
        uint64_t key = 0;
        for (char digit : name.substr(at + 1)) {
            if (__builtin_mul_overflow(key, uint64_t{10}, &key) ||
                __builtin_add_overflow(key, static_cast<uint64_t>(digit - '0'), &key)) {
                return 0;
            }
        }
        return key;
    }

    // Meta records (type and length, 16 bits each, then the payload) and the emulator's own layout record.
    bool describe(KernelInfo& kernel) {
        if (kernel.symbol.find("_mix_aiv") != std::string::npos) {
            kernel.core = CoreType::kVector;
        } else if (kernel.symbol.find("_mix_aic") != std::string::npos) {
            kernel.core = CoreType::kCube;
        }
        const Section* meta = find(std::string(kMetaPrefix) + kernel.symbol);
        if (meta != nullptr && (meta->type == SHT_PROGBITS || meta->type == SHT_NOTE)) {
            Bytes rest = meta->content;
            while (rest.size() > 4) {
                uint16_t type = 0;
                uint16_t length = 0;
                read(rest, 0, type);
                read(rest, 2, length);
                if (4u + length > rest.size()) {
                    break;
                }
                uint32_t value = 0;
                read(rest, 4, value);
                if (type == 1 && value >= 1 && value <= 7) {
                    kernel.says_core = true;
                    kernel.core = value == 1                 ? CoreType::kAiCore
                                  : value == 3 || value == 7 ? CoreType::kVector
                                  : value == 2 || value == 6 ? CoreType::kCube
                                                             : kernel.core;
                } else if (type == 18) {
                    if (value >= 2) {
                        return refuse("gives kernel " + kernel.name + " the schedule mode " + std::to_string(value) +
                                      "; 0 or 1 exist");
                    }
                    kernel.batch = value == 1;
                } else if (type == 14 && length == 12 && rest[4] == std::byte{0}) {
                    read(rest, 8, kernel.entry_key);
                }
                rest = rest.subspan(4u + length);
            }
        }
        const Section* layout = find(AIVOPS_EMU_LAYOUT_SECTION_PREFIX + kernel.symbol);
        AivEmuLayoutHeader header;
        if (layout != nullptr && read(layout->content, 0, header) &&
            std::memcmp(header.magic, AIVOPS_EMU_LAYOUT_MAGIC, sizeof header.magic) == 0) {
            kernel.has_layout = true;
            kernel.args_size = header.args_size;
            for (uint32_t index = 0; index < header.parameter_count; ++index) {
                AivEmuParameter parameter;
                if (!read(layout->content, sizeof header + index * sizeof parameter, parameter)) {
                    return refuse("ends inside the layout of kernel " + kernel.name);
                }
                kernel.parameters.push_back(parameter);
            }
        }
        return true;
    }

    Bytes bytes_;
    std::string& error_;
    std::vector<Section> sections_;
};

// Which file each loaded image came from, by its base address: what reports look lines up in.
struct LoadedImages {
    std::mutex mutex;
    std::map<const void*, std::shared_ptr<const KernelFile>> by_base;
};

LoadedImages& loaded_images() {
    static LoadedImages& instance = *new LoadedImages;
    return instance;
}

} // namespace

std::shared_ptr<const KernelFile> KernelFile::parse(std::vector<std::byte> bytes, std::string label,
                                                    CoreType default_core, std::string& error) {
    auto file = std::make_shared<KernelFile>();
    file->bytes = std::move(bytes);
    file->label = std::move(label);
    Reader reader(file->bytes, error);
    if (!reader.sections() || !reader.contract(file->npu_arch) || !reader.kernels(file->kernels, default_core)) {
        return nullptr;
    }
    return file;
}

const KernelInfo* KernelFile::find(std::string_view name) const {
    auto at = std::lower_bound(kernels.begin(), kernels.end(), name,
                               [](const KernelInfo& kernel, std::string_view key) { return kernel.name < key; });
    return at != kernels.end() && at->name == name ? &*at : nullptr;
}

const KernelInfo* KernelFile::find_entry(uint64_t key) const {
    auto at = std::find_if(kernels.begin(), kernels.end(),
                           [key](const KernelInfo& kernel) { return kernel.entry_key == key; });
    return at != kernels.end() ? &*at : nullptr;
}

const char* architecture_name(uint32_t npu_arch) {
    return npu_arch == 2201 ? "dav-c220-vec" : npu_arch == 3510 ? "dav-c310-vec" : "an unknown architecture";
}

std::unique_ptr<KernelImage> KernelImage::load(std::shared_ptr<const KernelFile> file, std::string& error) {
    std::unique_ptr<KernelImage> image(new KernelImage);
    // The descriptor stays open as long as the library: dlopen knows a library by its path, and a path under
    // /proc/self/fd whose number is used again would name the old one.
    image->descriptor_ = memfd_create("aivops-kernel", MFD_CLOEXEC);
    if (image->descriptor_ < 0) {
        error = std::string("no memory file for the device's copy: ") + std::strerror(errno);
        return nullptr;
    }
    for (size_t written = 0; written < file->bytes.size();) {
        ssize_t count = write(image->descriptor_, file->bytes.data() + written, file->bytes.size() - written);
        if (count < 0) {
            error = std::string("the device's copy cannot be written: ") + std::strerror(errno);
            return nullptr;
        }
        written += static_cast<size_t>(count);
    }
    std::string path = "/proc/self/fd/" + std::to_string(image->descriptor_);
    image->library_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (image->library_ == nullptr) {
        error = std::string("the binary cannot be loaded: ") + dlerror();
        return nullptr;
    }
    image->binding_ = static_cast<AivEmuBinding*>(dlsym(image->library_, AIVOPS_EMU_BINDING_SYMBOL));
    if (image->binding_ == nullptr) {
        error = "the binary has no " AIVOPS_EMU_BINDING_SYMBOL;
        return nullptr;
    }
    Dl_info info;
    dladdr(image->binding_, &info);
    image->base_ = info.dli_fbase;
    image->file_ = std::move(file);
    {
        std::lock_guard lock(loaded_images().mutex);
        loaded_images().by_base[image->base_] = image->file_;
    }
    if (auto* locals = static_cast<AivEmuBlockLocals*>(dlsym(image->library_, AIVOPS_EMU_BLOCK_LOCALS_SYMBOL))) {
        image->block_locals_ = {static_cast<uint8_t*>(locals->begin), static_cast<uint8_t*>(locals->end)};
    }
    return image;
}

KernelImage::~KernelImage() {
    {
        std::lock_guard lock(loaded_images().mutex);
        loaded_images().by_base.erase(base_);
    }
    if (library_ != nullptr) {
        dlclose(library_);
    }
    if (descriptor_ >= 0) {
        close(descriptor_);
    }
}

KernelImage::Position KernelImage::position_of(const void* instruction) {
    Dl_info info;
    if (dladdr(instruction, &info) == 0) {
        return {};
    }
    std::lock_guard lock(loaded_images().mutex);
    auto found = loaded_images().by_base.find(info.dli_fbase);
    if (found == loaded_images().by_base.end()) {
        return {};
    }
    return {found->second, reinterpret_cast<uint64_t>(instruction) - reinterpret_cast<uint64_t>(info.dli_fbase)};
}

std::string KernelImage::source_line_of(const void* instruction) {
    const Position position = position_of(instruction);
    return position.file ? source_line(position.file->bytes, position.offset) : std::string();
}

const AivEmuEntry* KernelImage::entry(const KernelInfo& kernel) const {
    return static_cast<const AivEmuEntry*>(dlsym(library_, (AIVOPS_EMU_ENTRY_PREFIX + kernel.symbol).c_str()));
}

void* KernelImage::address_of(const char* symbol, size_t* size) const {
    void* address = dlsym(library_, symbol);
    Dl_info info;
    void* entry = nullptr;
    if (address != nullptr && size != nullptr && dladdr1(address, &info, &entry, RTLD_DL_SYMENT) != 0 &&
        entry != nullptr) {
        *size = static_cast<const Elf64_Sym*>(entry)->st_size;
    }
    return address;
}

} // namespace aivops::machine
