#include "algorithm.h"

#include "types.h"

#include <aivops/error.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <shared_mutex>

namespace aivops {
namespace {

// Fingerprints have this many numbers for the algorithms of an operator.
constexpr size_t kMostAlgorithms = kMaxAlgorithm + 1;

class Registry {
  public:
    static Registry& instance() {
        static Registry registry;
        return registry;
    }

    std::vector<const Algorithm*> of(Operator operation) const {
        const std::shared_lock<std::shared_mutex> lock(mutex_);
        return find(operation);
    }

    const Algorithm& add(Algorithm algorithm) {
        const std::unique_lock<std::shared_mutex> lock(mutex_);
        const std::vector<const Algorithm*> others = find(algorithm.operation);
        const std::string what = std::string(name_of(algorithm.operation)) + "(): algorithm '" + algorithm.name + "'";
        for (const Algorithm* other : others) {
            if (other->name == algorithm.name) {
                throw InvalidValueError(what + " is registered already; choose another name");
            }
        }
        if (others.size() == kMostAlgorithms) {
            throw InvalidValueError(what + " is one too many, an operator can have " + std::to_string(kMostAlgorithms));
        }
        algorithm.number = static_cast<uint8_t>(others.size());
        const Algorithm& added = all_.emplace_back(std::move(algorithm));
        count_.store(all_.size(), std::memory_order_release);
        return added;
    }

    size_t count() const { return count_.load(std::memory_order_acquire); }

  private:
    Registry() {
        const Constraints any;
        Constraints direct;
        direct.registered_input = true;
        Constraints direct_apart = direct;
        direct_apart.apart = true;
        Constraints direct_both = direct;
        direct_both.registered_output = true;
        all_ = {
            {Operator::kAllGather, "mesh", "aiv_all_gather", any},
            {Operator::kAllGather, "direct", "aiv_all_gather_direct", direct},
            {Operator::kAllReduce, "one_shot", "aiv_all_reduce_one_shot", any},
            {Operator::kAllReduce, "two_shots", "aiv_all_reduce_two_shots", any},
            {Operator::kAllReduce, "one_shot_direct", "aiv_all_reduce_one_shot_direct", direct_apart},
            {Operator::kAllReduce, "two_shots_direct", "aiv_all_reduce_two_shots_direct", direct_both},
            {Operator::kReduceScatter, "mesh", "aiv_reduce_scatter", any},
            {Operator::kReduceScatter, "direct", "aiv_reduce_scatter_direct", direct_apart},
            {Operator::kAllToAll, "mesh", "aiv_all_to_all", any},
            {Operator::kAllToAll, "direct", "aiv_all_to_all_direct", direct_apart},
            {Operator::kBroadcast, "direct", "aiv_broadcast_direct", any},
            {Operator::kBroadcast, "scatter_gather", "aiv_broadcast_scatter_gather", any},
            {Operator::kScatter, "direct", "aiv_scatter", any},
            {Operator::kGather, "direct", "aiv_gather", any},
            {Operator::kReduce, "direct", "aiv_reduce", any},
            {Operator::kBarrier, "mesh", "aiv_barrier", any},
            {Operator::kAllGatherV, "mesh", "aiv_all_gather_v", any},
            {Operator::kReduceScatterV, "mesh", "aiv_reduce_scatter_v", any},
            {Operator::kAllToAllV, "mesh", "aiv_all_to_all_v", any},
            {Operator::kSendRecv, "channel", "aiv_send", any},
        };
        for (Algorithm& algorithm : all_) {
            const std::vector<const Algorithm*> siblings = find(algorithm.operation);
            algorithm.number =
                static_cast<uint8_t>(std::find(siblings.begin(), siblings.end(), &algorithm) - siblings.begin());
        }
        count_.store(all_.size(), std::memory_order_release);
    }

    std::vector<const Algorithm*> find(Operator operation) const {
        std::vector<const Algorithm*> found;
        for (const Algorithm& algorithm : all_) {
            if (algorithm.operation == operation) {
                found.push_back(&algorithm);
            }
        }
        return found;
    }

    mutable std::shared_mutex mutex_;
    std::deque<Algorithm> all_; // never moves what is in it
    std::atomic<size_t> count_{0};
};

std::string list(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) {
        text.append(text.empty() ? "" : ", ").append(name);
    }
    return text;
}

std::string range(uint64_t least, uint64_t most) {
    if (most == kAnyBytes) {
        return "at least " + std::to_string(least);
    }
    return std::to_string(least) + " to " + std::to_string(most);
}

std::string array_obstacle(const char* array) {
    return "reads " + std::string(array) + " where it lies on other ranks, and this one is in no memory that the " +
           "communicator knows; make it with comm.empty() or hand it to comm.register() on every rank";
}

} // namespace

std::vector<const Algorithm*> algorithms_of(Operator operation) {
    return Registry::instance().of(operation);
}

const Algorithm& register_algorithm(Algorithm algorithm) {
    if (algorithm.operation == Operator::kSendRecv) {
        throw InvalidValueError("send(), recv(): they have one algorithm, a channel between two ranks");
    }
    return Registry::instance().add(std::move(algorithm));
}

size_t algorithm_count() {
    return Registry::instance().count();
}

std::string obstacle(const Algorithm& algorithm, const Situation& situation) {
    const Constraints& asked = algorithm.constraints;
    if (!asked.types.empty() &&
        std::find(asked.types.begin(), asked.types.end(), situation.type) == asked.types.end()) {
        std::vector<std::string> names;
        std::transform(asked.types.begin(), asked.types.end(), std::back_inserter(names),
                       [](DataType type) { return std::string(name_of(type)); });
        return "takes " + list(names) + ", this is " + std::string(name_of(situation.type));
    }
    if (situation.ranks < asked.fewest_ranks || situation.ranks > asked.most_ranks) {
        return "is for " + range(asked.fewest_ranks, asked.most_ranks) + " ranks, here are " +
               std::to_string(situation.ranks);
    }
    if (situation.bytes < asked.fewest_bytes || situation.bytes > asked.most_bytes) {
        return "is for messages of " + range(asked.fewest_bytes, asked.most_bytes) + " bytes, this one has " +
               std::to_string(situation.bytes);
    }
    if (!asked.architectures.empty() && std::find(asked.architectures.begin(), asked.architectures.end(),
                                                  situation.architecture) == asked.architectures.end()) {
        return "is for " + list(asked.architectures) + ", this device is a " + std::string(situation.architecture);
    }
    if (asked.registered_input && !situation.registered_input) {
        return array_obstacle("x");
    }
    if (asked.registered_output && !situation.registered_output) {
        return array_obstacle("out");
    }
    if (asked.apart && !situation.apart) {
        return "writes out while other ranks read x, and these two share memory; pass another out";
    }
    return {};
}

std::string algorithm_name(Operator operation, uint8_t number) {
    const std::vector<const Algorithm*> known = algorithms_of(operation);
    return number < known.size() ? known[number]->name : std::to_string(number);
}

} // namespace aivops
