#include "error.h"

#include "acl/library_interface.h"
#include "machine/ipc_offers.h"

#include <new>

namespace aivops::hccl {

const char* result_name(HcclResult code) {
    switch (code) {
    case HCCL_SUCCESS:
        return "HCCL_SUCCESS";
    case HCCL_E_PARA:
        return "HCCL_E_PARA";
    case HCCL_E_PTR:
        return "HCCL_E_PTR";
    case HCCL_E_MEMORY:
        return "HCCL_E_MEMORY";
    case HCCL_E_INTERNAL:
        return "HCCL_E_INTERNAL";
    case HCCL_E_NOT_SUPPORT:
        return "HCCL_E_NOT_SUPPORT";
    case HCCL_E_NOT_FOUND:
        return "HCCL_E_NOT_FOUND";
    case HCCL_E_UNAVAIL:
        return "HCCL_E_UNAVAIL";
    case HCCL_E_SYSCALL:
        return "HCCL_E_SYSCALL";
    case HCCL_E_TIMEOUT:
        return "HCCL_E_TIMEOUT";
    case HCCL_E_TCP_CONNECT:
        return "HCCL_E_TCP_CONNECT";
    case HCCL_E_RUNTIME:
        return "HCCL_E_RUNTIME";
    case HCCL_E_REMOTE:
        return "HCCL_E_REMOTE";
    case HCCL_E_AGAIN:
        return "HCCL_E_AGAIN";
    case HCCL_E_OOM:
        return "HCCL_E_OOM";
    default:
        return "HCCL_E";
    }
}

HcclResult report(const char* function, HcclResult code, const std::string& message) {
    acl::library_interface::report(std::string(function) + ": " + message + " [" + std::to_string(code) + " " +
                                   result_name(code) + "]");
    return code;
}

HcclResult report_current(const char* function) {
    try {
        throw;
    } catch (const Error& error) {
        return report(function, error.code(), error.what());
    } catch (const machine::IpcError& error) {
        return report(function, HCCL_E_SYSCALL, error.what());
    } catch (const std::bad_alloc&) {
        return report(function, HCCL_E_MEMORY, "the host is out of memory");
    } catch (const std::exception& error) {
        return report(function, HCCL_E_INTERNAL, error.what());
    }
}

int not_provided(const char* function) {
    return report(function, HCCL_E_NOT_SUPPORT, "the emulated toolkit does not provide this function");
}

} // namespace aivops::hccl
