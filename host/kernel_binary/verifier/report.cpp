#include "verifier/report.h"

#include "verifier/checks.h"

namespace aivops::kernel_binary {
namespace {

struct Summary {
    std::size_t kernels = 0;
    std::size_t errors = 0;
    std::size_t warnings = 0;
};

Summary summarize(const std::vector<FileReport>& files) {
    Summary summary;
    for (const FileReport& file : files) {
        summary.kernels += file.kernels.size();
        summary.errors += file.count(Severity::kError);
        summary.warnings += file.count(Severity::kWarning);
    }
    return summary;
}

std::optional<std::string> when_not_empty(const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(text);
}

void write_one(JsonWriter& json, const Finding& finding) {
    json.begin_object();
    json.key("rule").value(rule_name(finding.rule));
    json.key("severity").value(severity_name(finding.severity));
    json.key("kernel").value(when_not_empty(finding.kernel));
    json.key("section").value(when_not_empty(finding.section));
    json.key("offset").value(finding.offset);
    json.key("expected").value(when_not_empty(finding.expected));
    json.key("found").value(when_not_empty(finding.found));
    json.key("message").value(finding.message);
    json.key("fix").value(finding.fix);
    json.end_object();
}

void write_severities(JsonWriter& json, std::uint8_t set) {
    json.begin_array();
    for (const Severity severity : {Severity::kError, Severity::kWarning, Severity::kInfo}) {
        if ((set & static_cast<std::uint8_t>(severity)) != 0) {
            json.value(severity_name(severity));
        }
    }
    json.end_array();
}

} // namespace

void write_findings(JsonWriter& json, const std::vector<Finding>& findings) {
    for (const Finding& finding : findings) {
        write_one(json, finding);
    }
}

std::string rules_json() {
    JsonWriter json;
    json.begin_array();
    for (const Rule& rule : all_rules()) {
        json.begin_object().key("id").value(rule_name(rule.id)).key("any");
        write_severities(json, rule.any);
        json.key("aiv");
        write_severities(json, rule.aiv);
        json.key("machines").begin_array();
        if ((rule.machines & kOnAscend) != 0) {
            json.value("ascend");
        }
        if ((rule.machines & kOnEmulated) != 0) {
            json.value("emulated");
        }
        json.end_array().key("condition").value(rule.condition).key("consequence").value(rule.consequence);
        json.key("fix").value(rule.fix).key("source").value(rule.source).key("since").value(rule.since).end_object();
    }
    json.end_array();
    return json.text();
}

void write_file_report(JsonWriter& json, const FileReport& file, const std::function<void(std::size_t)>& more_of_kernel,
                       const std::function<void()>& more_of_file) {
    json.begin_object();
    json.key("path").value(file.path);
    json.key("machine").value(file.machine);
    json.key("architecture").value(file.architecture);
    json.key("kernels").begin_array();
    for (std::size_t i = 0; i < file.kernels.size(); ++i) {
        const KernelReport& kernel = file.kernels[i];
        json.begin_object().key("name").value(kernel.name).key("type");
        if (kernel.type) {
            json.value(kernel_type_name(*kernel.type));
        } else {
            json.null();
        }
        json.key("offset").value(kernel.offset).key("size").value(kernel.size);
        json.key("args_size").value(kernel.args_size);
        if (more_of_kernel) {
            more_of_kernel(i);
        }
        json.end_object();
    }
    json.end_array().key("findings").begin_array();
    write_findings(json, file.findings);
    json.end_array();
    if (more_of_file) {
        more_of_file();
    }
    json.end_object();
}

std::string report_json(const std::vector<FileReport>& files, const std::vector<std::string>& unreadable) {
    JsonWriter json;
    json.begin_object().key("schema").value(1u).key("files").begin_array();
    for (const FileReport& file : files) {
        write_file_report(json, file);
    }
    const Summary summary = summarize(files);
    json.end_array().key("summary").begin_object();
    json.key("files").value(files.size()).key("kernels").value(summary.kernels);
    json.key("errors").value(summary.errors).key("warnings").value(summary.warnings);
    json.end_object();
    if (!unreadable.empty()) {
        json.key("unreadable").begin_array();
        for (const std::string& reason : unreadable) {
            json.value(reason);
        }
        json.end_array();
    }
    json.end_object();
    return json.text() + "\n";
}

std::string report_text(const FileReport& file, Severity least) {
    std::string text;
    const auto line = [&](const char* title, const std::string& value) {
        if (!value.empty()) {
            text += std::string("    ") + title + value + "\n";
        }
    };
    for (const Finding& finding : file.findings) {
        if (finding.severity < least) {
            continue;
        }
        text += file.path + ": " + std::string(severity_name(finding.severity)) + " " + rule_name(finding.rule) + ": " +
                finding.message + "\n";
        line("expected: ", finding.expected);
        line("found:    ", finding.found);
        if (!finding.section.empty() || finding.offset) {
            line("where:    ", (finding.section.empty() ? "file" : finding.section) +
                                   (finding.offset ? ", offset " + hex(*finding.offset) : ""));
        }
        line("fix:      ", finding.fix);
    }
    return text;
}

std::string summary_text(const std::vector<FileReport>& files) {
    const Summary summary = summarize(files);
    return counted(files.size(), "file") + ", " + counted(summary.kernels, "kernel") + ": " +
           counted(summary.errors, "error") + ", " + counted(summary.warnings, "warning") + "\n";
}

} // namespace aivops::kernel_binary
