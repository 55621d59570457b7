#include "fact.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_FACTS 512

typedef struct Fact {
    const char* id;
    const char* what;
    const char* result; // expected, different or unknown
    const char* why;    // of unknown
    long long expected;
    long long found;
    int has_expected;
    int has_found;
} Fact;

static Fact facts[MOST_FACTS];
static int fact_count;
static void* libraries[4];
static int library_count;

static void open_library(const char* folder, const char* name) {
    char path[4096];
    void* library;
    snprintf(path, sizeof path, "%s%s%s", folder != NULL ? folder : "", folder != NULL ? "/lib64/" : "", name);
    library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (library != NULL) {
        libraries[library_count++] = library;
    } else {
        fprintf(stderr, "conformance: %s\n", dlerror());
    }
}

int open_toolkit(const char* folder) {
    open_library(folder, "libacl_rt.so");
    if (library_count == 0) {
        open_library(folder, "libascendcl.so");
    }
    if (library_count == 0) {
        return 0;
    }
    open_library(folder, "libhccl.so");
    open_library(folder, "libhcomm.so");
    return 1;
}

void* find_function(const char* name) {
    for (int i = 0; i < library_count; ++i) {
        void* function = dlsym(libraries[i], name);
        if (function != NULL) {
            return function;
        }
    }
    return NULL;
}

void* need_function(const char* name) {
    void* function = find_function(name);
    if (function == NULL) {
        fprintf(stderr, "conformance: the toolkit has no %s\n", name);
        exit(2);
    }
    return function;
}

static const char* recent_message(void) {
    __typeof__(&aclGetRecentErrMsg) function = (__typeof__(&aclGetRecentErrMsg))find_function("aclGetRecentErrMsg");
    const char* text = function != NULL ? function() : NULL;
    return text != NULL ? text : "";
}

void call_succeeded(const char* name, long long result) {
    if (result != 0) {
        fprintf(stderr, "conformance: %s returned %lld: %s\n", name, result, recent_message());
        exit(2);
    }
}

static Fact* add(const char* id, const char* what, const char* result) {
    if (fact_count == MOST_FACTS) {
        fprintf(stderr, "conformance: more than %d facts\n", MOST_FACTS);
        exit(2);
    }
    Fact* new_fact = &facts[fact_count++];
    new_fact->id = id;
    new_fact->what = what;
    new_fact->result = result;
    return new_fact;
}

void fact(const char* id, const char* what, long long expected, long long found) {
    Fact* new_fact = add(id, what, expected == found ? "expected" : "different");
    new_fact->expected = expected;
    new_fact->found = found;
    new_fact->has_expected = new_fact->has_found = 1;
}

void open_question(const char* id, const char* what, long long found) {
    Fact* new_fact = add(id, what, "unknown");
    new_fact->why = "our reference leaves it open";
    new_fact->found = found;
    new_fact->has_found = 1;
}

void not_asked(const char* id, const char* what, const char* why) {
    add(id, what, "unknown")->why = why;
}

// Texts are ours, but for the name of the SoC, which has no quotes either.
int print_facts(void) {
    const char* soc = RESULT_OF(aclrtGetSocName);
    int32_t major = 0, minor = 0, patch = 0;
    int counts[3] = {0, 0, 0};
    const char* names[3] = {"expected", "different", "unknown"};
    RESULT_OF(aclrtGetVersion, &major, &minor, &patch);
    printf("{\n  \"schema\": 1,\n  \"soc\": \"%s\",\n  \"acl\": \"%d.%d.%d\",\n  \"facts\": [", soc != NULL ? soc : "",
           (int)major, (int)minor, (int)patch);
    for (int i = 0; i < fact_count; ++i) {
        const Fact* one = &facts[i];
        printf("%s\n    {\"id\": \"%s\", \"what\": \"%s\", \"result\": \"%s\"", i == 0 ? "" : ",", one->id, one->what,
               one->result);
        if (one->has_expected) {
            printf(", \"expected\": %lld", one->expected);
        }
        if (one->has_found) {
            printf(", \"found\": %lld", one->found);
        }
        if (one->why != NULL) {
            printf(", \"why\": \"%s\"", one->why);
        }
        printf("}");
        for (int k = 0; k < 3; ++k) {
            counts[k] += strcmp(one->result, names[k]) == 0;
        }
    }
    printf("\n  ],\n  \"summary\": {\"expected\": %d, \"different\": %d, \"unknown\": %d}\n}\n", counts[0], counts[1],
           counts[2]);
    return counts[1];
}

typedef struct ThreadCall {
    void (*body)(void*);
    void* argument;
} ThreadCall;

static void* run_thread_call(void* argument) {
    ThreadCall* call = (ThreadCall*)argument;
    call->body(call->argument);
    return NULL;
}

void in_new_thread(void (*body)(void*), void* argument) {
    pthread_t thread;
    ThreadCall call = {body, argument};
    if (pthread_create(&thread, NULL, run_thread_call, &call) != 0) {
        fprintf(stderr, "conformance: no thread\n");
        exit(2);
    }
    pthread_join(thread, NULL);
}
