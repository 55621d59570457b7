#include "ipc_offers.h"

#include "containment.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

namespace aivops::machine {
namespace {

constexpr size_t kNameDigits = 32;
constexpr uint32_t kRequestMagic = 0x41495631; // "AIV1": the messages below
constexpr int kPatienceSeconds = 5;            // with a peer that says nothing

struct Request {
    uint32_t magic;
    char secret[kIpcKeyDigits - kNameDigits];
};

enum class Answer : uint32_t { kGranted = 0, kUnknownKey = 1, kOtherUser = 2, kNotAllowed = 3 };

struct Reply {
    uint32_t magic;
    Answer answer;
    int32_t process;
    uint32_t reserved;
    IpcDescription description;
};

std::string random_digits() {
    std::array<uint8_t, kNameDigits / 2> bytes;
    size_t filled = 0;
    while (filled < bytes.size()) {
        ssize_t got = getrandom(bytes.data() + filled, bytes.size() - filled, 0);
        if (got > 0) {
            filled += static_cast<size_t>(got);
        } else if (errno != EINTR) {
            throw IpcError(std::string("no random bits for a key: ") + std::strerror(errno));
        }
    }
    std::string digits;
    for (uint8_t byte : bytes) {
        digits += "0123456789abcdef"[byte >> 4];
        digits += "0123456789abcdef"[byte & 15];
    }
    return digits;
}

void close_if_open(int descriptor) {
    if (descriptor >= 0) {
        close(descriptor);
    }
}

std::pair<sockaddr_un, socklen_t> socket_address(const std::string& name) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::string path = "aivops-" + name; // behind a NUL byte: no file
    std::memcpy(address.sun_path + 1, path.data(), path.size());
    return {address, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + path.size())};
}

void limit_patience(int socket) {
    timeval patience{kPatienceSeconds, 0};
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
}

bool send_reply(int socket, const Reply& reply, int descriptor) {
    iovec part{const_cast<Reply*>(&reply), sizeof reply};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (descriptor >= 0) {
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        cmsghdr* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof reply);
}

// False when no whole reply came. `descriptor` is -1 when none came with it.
bool receive_reply(int socket, Reply& reply, int& descriptor) {
    iovec part{&reply, sizeof reply};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    descriptor = -1;
    ssize_t got;
    do {
        got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
            std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
        }
    }
    return got == static_cast<ssize_t>(sizeof reply) && reply.magic == kRequestMagic;
}

struct Offer {
    int descriptor;
    IpcDescription description;
    bool everyone;
    std::set<pid_t> allowed;
};

// The offers of this process and the thread that answers for them, started with the first offer.
class Offers {
  public:
    std::string add(Offer offer) {
        std::lock_guard lock(mutex_);
        open();
        std::string secret = random_digits();
        offers_.emplace(secret, std::move(offer));
        return name_ + secret;
    }

    // Calls `use` with the offer of a key of this process; false when there is none.
    template <typename Use>
    bool with(const std::string& key, Use use) {
        std::lock_guard lock(mutex_);
        if (!is_own(key)) {
            return false;
        }
        auto found = offers_.find(key.substr(kNameDigits));
        if (found == offers_.end()) {
            return false;
        }
        use(found);
        return true;
    }

    void erase(std::map<std::string, Offer>::iterator offer) { offers_.erase(offer); }

    bool shared() const { return shared_.load(); }

    bool owns(const std::string& key) {
        std::lock_guard lock(mutex_);
        return is_own(key);
    }

  private:
    bool is_own(const std::string& key) const {
        return process_ == getpid() && key.size() == kIpcKeyDigits && key.compare(0, kNameDigits, name_) == 0;
    }

    void open() {
        if (process_ == getpid()) {
            return;
        }
        // The first offer, or the first one after a fork, whose parent keeps what it offered.
        offers_.clear();
        name_ = random_digits();
        int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        auto [address, length] = socket_address(name_);
        if (listener < 0 || bind(listener, reinterpret_cast<sockaddr*>(&address), length) != 0 ||
            listen(listener, SOMAXCONN) != 0) {
            std::string why = std::strerror(errno);
            close_if_open(listener);
            throw IpcError("this process cannot offer memory to others, its socket fails: " + why);
        }
        process_ = getpid();
        std::thread([this, listener] {
            block_signals_of_the_process();
            serve(listener);
        }).detach();
    }

    void serve(int listener) {
        for (;;) {
            int peer = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
            if (peer >= 0) {
                answer(peer);
                close(peer);
            } else if (errno != EINTR && errno != ECONNABORTED) {
                usleep(10000); // out of descriptors, say; those who wait have patience
            }
        }
    }

    void answer(int peer) {
        limit_patience(peer);
        Request request{};
        if (recv(peer, &request, sizeof request, 0) != static_cast<ssize_t>(sizeof request) ||
            request.magic != kRequestMagic) {
            return;
        }
        Reply reply{kRequestMagic, Answer::kUnknownKey, static_cast<int32_t>(getpid()), 0, {}};
        std::lock_guard lock(mutex_);
        auto found = offers_.find(std::string(request.secret, sizeof request.secret));
        if (found != offers_.end()) {
            reply.answer = judge(peer, found->second);
        }
        if (reply.answer == Answer::kGranted) {
            reply.description = found->second.description;
            shared_.store(true);
            send_reply(peer, reply, found->second.descriptor);
        } else {
            send_reply(peer, reply, -1);
        }
    }

    static Answer judge(int peer, const Offer& offer) {
        ucred credentials{};
        socklen_t length = sizeof credentials;
        if (getsockopt(peer, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0 || credentials.uid != geteuid()) {
            return Answer::kOtherUser;
        }
        return offer.everyone || offer.allowed.count(credentials.pid) != 0 ? Answer::kGranted : Answer::kNotAllowed;
    }

    std::mutex mutex_;
    pid_t process_ = 0; // that the name and the thread belong to
    std::atomic<bool> shared_{false};
    std::string name_;
    std::map<std::string, Offer> offers_; // by secret
};

Offers& offers() {
    // Never destroyed: its thread answers until the process ends.
    static Offers& instance = *new Offers;
    return instance;
}

bool is_key(const std::string& key) {
    return key.size() == kIpcKeyDigits && std::all_of(key.begin(), key.end(), [](char digit) {
               return (digit >= '0' && digit <= '9') || (digit >= 'a' && digit <= 'f');
           });
}

IpcReceived fetch_from(int connection, const std::string& key) {
    limit_patience(connection);
    Request request{};
    request.magic = kRequestMagic;
    std::memcpy(request.secret, key.data() + kNameDigits, sizeof request.secret);
    Reply reply{};
    IpcReceived received;
    if (send(connection, &request, sizeof request, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof request) ||
        !receive_reply(connection, reply, received.descriptor)) {
        close_if_open(received.descriptor);
        throw IpcError("the process that made the key does not answer: it has ended or is stopped");
    }
    if (reply.answer != Answer::kGranted) {
        close_if_open(received.descriptor);
    }
    received.owner = reply.process;
    received.description = reply.description;
    std::string owner = "process " + std::to_string(reply.process);
    switch (reply.answer) {
    case Answer::kGranted:
        if (received.descriptor < 0) {
            throw IpcError(owner + " granted the key and sent no memory: one of both is out of descriptors");
        }
        return received;
    case Answer::kUnknownKey:
        throw IpcError(owner + " offers no memory under this key (any more)");
    case Answer::kOtherUser:
        throw IpcError(owner + " belongs to another user");
    case Answer::kNotAllowed:
        throw IpcError(owner + " does not allow process " + std::to_string(getpid()) +
                       " to import this key: add it with aclrtIpcMemSetImportPid");
    }
    throw IpcError(owner + " sent an answer of another version of the emulator");
}

} // namespace

std::string ipc_offer(int descriptor, const IpcDescription& description, bool everyone) {
    return offers().add({descriptor, description, everyone, {}});
}

bool ipc_allow(const std::string& key, std::span<const pid_t> processes) {
    return offers().with(key, [&](auto offer) { offer->second.allowed.insert(processes.begin(), processes.end()); });
}

bool ipc_withdraw(const std::string& key) {
    return offers().with(key, [](auto offer) { offers().erase(offer); });
}

bool ipc_shared() {
    return offers().shared();
}

IpcReceived ipc_fetch(const std::string& key) {
    if (!is_key(key)) {
        throw IpcError("a key has " + std::to_string(kIpcKeyDigits) + " hexadecimal digits, this one has not");
    }
    if (offers().owns(key)) {
        IpcReceived received;
        bool known = offers().with(key, [&](auto offer) {
            received.owned = offer->second.descriptor;
            received.owner = getpid();
            received.description = offer->second.description;
        });
        if (!known) {
            throw IpcError("this process offers no memory under this key (any more)");
        }
        return received;
    }
    auto [address, length] = socket_address(key.substr(0, kNameDigits));
    int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (connection < 0) {
        throw IpcError(std::string("no socket to import memory with: ") + std::strerror(errno));
    }
    if (connect(connection, reinterpret_cast<sockaddr*>(&address), length) != 0) {
        std::string why =
            errno == ECONNREFUSED ? "it has ended, or runs in another network namespace" : std::strerror(errno);
        close(connection);
        throw IpcError("the process that made the key cannot be reached: " + why);
    }
    try {
        IpcReceived received = fetch_from(connection, key);
        close(connection);
        return received;
    } catch (...) {
        close(connection);
        throw;
    }
}

} // namespace aivops::machine
