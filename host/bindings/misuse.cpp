// Calls whose arguments fit no binding. nanobind answers them with a list of its signatures; here every function gets a
// last overload, taken when the real ones have refused, that says which argument is wrong, and every class that Python
// cannot make a constructor that says where its objects come from (aivops._misuse has the words).
#include "misuse.h"

#include "aivops/error.h"
#include "register.h"

#include <limits>
#include <nanobind/stl/string.h>
#include <string>

namespace aivops::bindings {

/// A hidden argument that only fits in the last round of overload resolution, the one with implicit conversions: before
/// it the real overloads have not been asked about everything that they take.
struct LastRound {};

} // namespace aivops::bindings

NAMESPACE_BEGIN(NB_NAMESPACE)
NAMESPACE_BEGIN(detail)

template <>
struct type_caster<aivops::bindings::LastRound> {
    NB_TYPE_CASTER(aivops::bindings::LastRound, const_name("None"))

    bool from_python(handle, std::uint32_t flags, cleanup_list*) noexcept {
        return (flags & static_cast<std::uint32_t>(cast_flags::convert)) != 0;
    }
};

NAMESPACE_END(detail)
NAMESPACE_END(NB_NAMESPACE)

namespace nb = nanobind;
using namespace nb::literals;

namespace aivops::bindings {

namespace {

constexpr const char* kMethod = "nanobind.nb_method";

[[noreturn]] void refuse(nb::handle scope, const std::string& name, nb::handle self, const nb::args& arguments,
                         const nb::kwargs& keywords) {
    nb::module_::import_("aivops._misuse").attr("refuse_call")(scope, name, self, arguments, keywords);
    throw InvalidTypeError(name + "(): its arguments do not fit"); // refuse_call() always raises
}

// `scope` outlives its functions, so a plain handle does.
void add_last_overload(nb::handle scope, const char* name, bool is_method) {
    if (is_method) {
        nb::cpp_function_def([scope, name = std::string(name)](
                                 nb::handle self, const nb::args& arguments, LastRound,
                                 const nb::kwargs& keywords) { refuse(scope, name, self, arguments, keywords); },
                             nb::scope(scope), nb::name(name), nb::is_method(), "args"_a, "last_round"_a = nb::none(),
                             "kwargs"_a);
    } else {
        nb::cpp_function_def(
            [scope, name = std::string(name)](const nb::args& arguments, LastRound, const nb::kwargs& keywords) {
                refuse(scope, name, nb::none(), arguments, keywords);
            },
            nb::scope(scope), nb::name(name), "args"_a, "last_round"_a = nb::none(), "kwargs"_a);
    }
}

void add_refusing_constructor(nb::handle scope) {
    nb::cpp_function_def(
        [scope](nb::handle, const nb::args&, const nb::kwargs&) {
            nb::module_::import_("aivops._misuse").attr("refuse_making")(scope);
        },
        nb::scope(scope), nb::name("__init__"), nb::is_method(), "args"_a, "kwargs"_a);
}

void refuse_in_words(nb::handle scope) {
    const nb::dict members = nb::cast<nb::dict>(nb::module_::import_("builtins").attr("dict")(scope.attr("__dict__")));
    for (const auto [key, member] : members) {
        const std::string kind = nb::type_name(member.type()).c_str();
        if (kind == "nanobind.nb_func" || kind == kMethod) {
            add_last_overload(scope, nb::cast<std::string>(key).c_str(), kind == kMethod);
        } else if (nb::isinstance<nb::type_object>(member)) {
            refuse_in_words(member);
        }
    }
    // A class without a constructor has Python's slot there.
    if (nb::type_check(scope) && std::string(nb::type_name(members["__init__"].type()).c_str()) != kMethod) {
        add_refusing_constructor(scope);
    }
}

} // namespace

std::uint32_t require_count(const char* what, nb::handle value) {
    const nb::object most = nb::int_(std::numeric_limits<std::uint32_t>::max());
    return nb::cast<std::uint32_t>(nb::module_::import_("aivops._misuse").attr("require_whole")(what, value, 0, most));
}

void register_misuse(nb::module_& m) {
    refuse_in_words(m);
}

} // namespace aivops::bindings
