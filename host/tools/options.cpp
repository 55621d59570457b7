#include "options.h"

#include <functional>
#include <map>

namespace aivops::tools {

using namespace kernel_binary;

const char* const kUsage = R"(usage: aivops-verify [options] PATH...
       aivops-verify [options] --move-to OUT [--record OUT.json] PATH
       aivops-verify --write-manifest MANIFEST [--base DIR] ENTRY.json=relative/path.o...

Verifies kernel binaries: files, and the *.o files of folders. Nothing is loaded or run.

  --profile any|aiv          the rules' policy; aiv: every kernel is K_TYPE_AIV (default: any)
  --machine NAME             ascend, emulated-x86_64 or emulated-aarch64 is expected
  --architecture NAME        dav-c220-vec, dav-c310-vec, ... is expected
  --kernel NAME|GLOB         a kernel that has to be there; with any of these, no other may be (repeatable)
  --allow-hard-sync          accept K_TYPE_MIX_AIV_MAIN with ratio 0:1 and a _mix_aiv name in profile aiv
  --layout-from EMULATED.o   argument layouts of the kernels: those of the emulated build of the same sources
  --format text|json         (default: text)
  --fail-on error|warning    what makes the exit status 1 (default: error)

  --move-to OUT              remove OUT, verify PATH, and give it the name OUT only when nothing fails
  --record OUT.json          write the binary's manifest entry there
  --target NAME, --toolkit-name NAME, --toolkit-version VERSION   what the entry says of its origin

  --write-manifest MANIFEST  join entries; each binary's path is relative to the manifest
  --base DIR                 check that DIR holds the very binaries that the entries describe

Exit status: 0 clean, 1 findings, 2 wrong usage or a path that cannot be read.
)";

namespace {

// One of a list of words, as a value.
template <typename T>
T choose(const std::string& option, const std::string& word, const std::map<std::string, T>& choices) {
    if (const auto choice = choices.find(word); choice != choices.end()) {
        return choice->second;
    }
    std::string known;
    for (const auto& [name, value] : choices) {
        known += (known.empty() ? "" : ", ") + name;
    }
    throw UsageError(option + " " + printable(word) + ": expected one of " + known);
}

void set_machine(Options& options, const std::string& name) {
    options.verify.machine = find_machine(name);
    if (options.verify.machine == Machine::kUnknown) {
        throw UsageError("--machine " + printable(name) + ": expected ascend, emulated-x86_64 or emulated-aarch64");
    }
}

void set_architecture(Options& options, const std::string& name) {
    options.verify.architecture = name;
    options.verify.generation = find_generation(name);
    if (options.verify.generation == Generation::kUnknown) {
        throw UsageError("--architecture " + printable(name) +
                         ": expected dav-c220-vec, dav-2201, dav-c310-vec, dav-3510, ascend910b, ascend910_93, "
                         "ascend950 or ascend310p");
    }
}

using Setter = std::function<void(Options&, const std::string&)>;

const std::map<std::string, Setter>& setters() {
    static const std::map<std::string, Setter> kSetters = {
        {"--profile",
         [](Options& o, const std::string& word) {
             o.verify.profile = choose<Profile>("--profile", word, {{"any", Profile::kAny}, {"aiv", Profile::kAiv}});
         }},
        {"--machine", set_machine},
        {"--architecture", set_architecture},
        {"--kernel", [](Options& o, const std::string& word) { o.verify.kernels.push_back(word); }},
        {"--format",
         [](Options& o, const std::string& word) {
             o.json = choose<bool>("--format", word, {{"text", false}, {"json", true}});
         }},
        {"--fail-on",
         [](Options& o, const std::string& word) {
             o.fail_on =
                 choose<Severity>("--fail-on", word, {{"error", Severity::kError}, {"warning", Severity::kWarning}});
         }},
        {"--move-to", [](Options& o, const std::string& word) { o.move_to = word; }},
        {"--record", [](Options& o, const std::string& word) { o.record = word; }},
        {"--layout-from", [](Options& o, const std::string& word) { o.layout_from = word; }},
        {"--target", [](Options& o, const std::string& word) { o.provenance.target = word; }},
        {"--toolkit-name", [](Options& o, const std::string& word) { o.provenance.toolkit_name = word; }},
        {"--toolkit-version", [](Options& o, const std::string& word) { o.provenance.toolkit_version = word; }},
        {"--write-manifest", [](Options& o, const std::string& word) { o.write_manifest = word; }},
        {"--base", [](Options& o, const std::string& word) { o.base = word; }},
    };
    return kSetters;
}

void check_combination(const Options& options) {
    if (options.help) {
        return;
    }
    if (options.paths.empty() && options.write_manifest.empty()) {
        throw UsageError("no PATH is given");
    }
    if (!options.move_to.empty() && options.paths.size() != 1) {
        throw UsageError("--move-to " + options.move_to + ": expected one PATH, found " +
                         std::to_string(options.paths.size()));
    }
    if (!options.record.empty() && options.move_to.empty()) {
        throw UsageError("--record " + options.record + ": needs --move-to");
    }
    if (!options.base.empty() && options.write_manifest.empty()) {
        throw UsageError("--base " + options.base + ": needs --write-manifest");
    }
    if (!options.write_manifest.empty() && !options.move_to.empty()) {
        throw UsageError("--write-manifest and --move-to: expected one of them");
    }
}

} // namespace

Options read_options(int count, char** words) {
    Options options;
    bool only_paths = false;
    for (int i = 1; i < count; ++i) {
        std::string word = words[i];
        if (only_paths || !word.starts_with("-")) {
            options.paths.push_back(std::move(word));
        } else if (word == "--") {
            only_paths = true;
        } else if (word == "--help" || word == "-h") {
            options.help = true;
        } else if (word == "--allow-hard-sync") {
            options.verify.allow_hard_sync = true;
        } else {
            const std::size_t equals = word.find('=');
            const std::string name = word.substr(0, equals);
            const auto setter = setters().find(name);
            if (setter == setters().end()) {
                throw UsageError(printable(name) + ": no such option");
            }
            if (equals == std::string::npos && i + 1 == count) {
                throw UsageError(name + ": needs a value");
            }
            setter->second(options, equals == std::string::npos ? words[++i] : word.substr(equals + 1));
        }
    }
    check_combination(options);
    return options;
}

} // namespace aivops::tools
