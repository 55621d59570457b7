#include "exchange.h"

#include "aivops/kernel_binary/counted.h"
#include "failure.h"

#include <exception>

namespace aivops {
namespace {

constexpr char kPrepared = 'y';
constexpr char kFailed = 'n';

} // namespace

std::vector<std::string> exchange(Bootstrap& bootstrap, const std::function<std::string()>& prepare) {
    std::string brought;
    std::exception_ptr failure;
    try {
        brought = kPrepared + prepare();
    } catch (const std::exception& error) {
        failure = std::current_exception();
        brought = kFailed + std::string(error.what());
    }
    std::vector<std::string> all = bootstrap.all_gather(brought);
    if (failure) {
        std::rethrow_exception(failure);
    }
    if (all.size() != bootstrap.size()) {
        throw InvalidValueError("Bootstrap: all_gather() returned " + std::to_string(all.size()) +
                                " parts, expected one for each of " + kernel_binary::counted(bootstrap.size(), "rank"));
    }
    for (size_t rank = 0; rank < all.size(); ++rank) {
        if (all[rank].empty() || (all[rank].front() != kPrepared && all[rank].front() != kFailed)) {
            throw InvalidValueError("Bootstrap: all_gather() returned something else than rank " +
                                    std::to_string(rank) + " gave; do all ranks use the same version of AivOps?");
        }
        if (all[rank].front() == kFailed) {
            throw PeerFailedError("Communicator: rank " + std::to_string(rank) + " failed: " + all[rank].substr(1));
        }
        all[rank].erase(0, 1);
    }
    return all;
}

} // namespace aivops
