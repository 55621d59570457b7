// Asks a toolkit how it behaves and compares with what our reference says. For any toolkit: ours, or CANN on an NPU.
// usage: conformance [--toolkit FOLDER] [--device N] [--kernels FILE.o] [--endless]
// --kernels: conformance.asc, compiled for the device; without it the questions about kernels stay open.
// --endless: also let a kernel run into its timeout (takes a few seconds; afterwards the device is reset).
// Prints JSON. Returns 0, 1 when facts are different, 2 when the toolkit does not work at all.
#include "fact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char* value_of(int argc, char** argv, const char* name) {
    for (int i = 1; i + 1 < argc; ++i) {
        if (strcmp(argv[i], name) == 0) {
            return argv[i + 1];
        }
    }
    return NULL;
}

static int has_flag(int argc, char** argv, const char* name) {
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], name) == 0) {
            return 1;
        }
    }
    return 0;
}

int main(int argc, char** argv) {
    const char* toolkit = value_of(argc, argv, "--toolkit");
    const char* device = value_of(argc, argv, "--device");
    if (has_flag(argc, argv, "--help")) {
        puts("usage: conformance [--toolkit FOLDER] [--device N] [--kernels FILE.o] [--endless]");
        return 0;
    }
    if (!open_toolkit(toolkit != NULL ? toolkit : getenv("ASCEND_HOME_PATH"))) {
        fprintf(stderr, "conformance: neither libacl_rt.so nor libascendcl.so opens; name a toolkit with --toolkit\n");
        return 2;
    }
    CODE("init.first", "aclInit(NULL)", 0, aclInit, NULL);
    CODE("init.second", "a second aclInit", 100002, aclInit, NULL);
    CALL(aclrtSetDevice, device != NULL ? atoi(device) : 0);
    ask_about_runtime();
    ask_about_sharing();
    ask_about_communicators();
    ask_about_kernels(value_of(argc, argv, "--kernels"), has_flag(argc, argv, "--endless") ? "endless" : NULL);
    return print_facts() == 0 ? 0 : 1;
}
