// What the program finds out, fact by fact, and the functions of the toolkit, found by name so that an older toolkit
// that lacks one still answers all the rest.
#ifndef AIVOPS_CONFORMANCE_FACT_H
#define AIVOPS_CONFORMANCE_FACT_H

#include <acl/acl.h>
#include <hccl/hccl.h>
#include <hccl/hccl_rank_graph.h>
#include <hccl/hccl_res.h>
#include <stdint.h>

/// Where the libraries are: a toolkit's folder, or NULL for the search path. Returns 0 when ACL is not there.
int open_toolkit(const char* folder);
void* find_function(const char* name);
/// Ends the program with a message when there is none.
void* need_function(const char* name);

/// A fact whose value our reference gives.
void fact(const char* id, const char* what, long long expected, long long found);
/// A fact that our reference leaves open.
void open_question(const char* id, const char* what, long long found);
/// A fact that could not be asked.
void not_asked(const char* id, const char* what, const char* why);
/// Everything as JSON on stdout. Returns how many facts are different.
int print_facts(void);

/// A call whose result is no fact of interest; 0 or the program ends.
#define CALL(function, ...) call_succeeded(#function, (long long)RESULT_OF(function, __VA_ARGS__))
/// The result of a call that the toolkit has for sure.
#define RESULT_OF(function, ...) ((__typeof__(&function))need_function(#function))(__VA_ARGS__)
void call_succeeded(const char* name, long long result);

/// The fact is what the call returns.
#define CODE(id, what, expected, function, ...)                                                                        \
    do {                                                                                                               \
        __typeof__(&function) function_ = (__typeof__(&function))find_function(#function);                             \
        if (function_ == NULL) {                                                                                       \
            not_asked(id, what, "the toolkit has no " #function);                                                      \
        } else {                                                                                                       \
            fact(id, what, (long long)(expected), (long long)function_(__VA_ARGS__));                                  \
        }                                                                                                              \
    } while (0)

/// Runs `body(argument)` in a thread that has no context.
void in_new_thread(void (*body)(void*), void* argument);

/// The topics.
void ask_about_runtime(void);
void ask_about_kernels(const char* binary, const char* endless);
void ask_about_sharing(void);
void ask_about_communicators(void);

#endif // AIVOPS_CONFORMANCE_FACT_H
