// Runs collectives on ranks of this process, every rank in a thread of its own, on arrays from files.
// usage: collectives TOOLKIT KERNELS RANKS BLOCKS FOLDER
// Each line of FOLDER/calls is `name operator type count reduction root peer counts…`; rank r takes FOLDER/name.r.in
// and gives FOLDER/name.r.out. A line is for all ranks, or for the two of a send/recv, from root to peer; it is called
// three times in a row.
#include "communicator.h"
#include "types.h"

#include <aivops/dispatch.h>

#include <barrier>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kTurns = 3;
constexpr uint64_t kWindowBytes = 4 << 20;

// Where the ranks meet before they have windows.
struct Meeting {
    explicit Meeting(uint32_t size) : parts(size), barrier(size) {}

    std::vector<std::string> parts;
    std::barrier<> barrier;
};

class ThreadBootstrap : public aivops::Bootstrap {
  public:
    ThreadBootstrap(Meeting& meeting, uint32_t rank) : meeting_(meeting), rank_(rank) {}

    uint32_t rank() const override { return rank_; }
    uint32_t size() const override { return static_cast<uint32_t>(meeting_.parts.size()); }
    std::vector<std::string> all_gather(const std::string& bytes) override {
        meeting_.parts[rank_] = bytes;
        barrier();
        std::vector<std::string> parts = meeting_.parts;
        barrier(); // nobody may bring the next part before all have this one
        return parts;
    }
    void barrier() override { meeting_.barrier.arrive_and_wait(); }

  private:
    Meeting& meeting_;
    uint32_t rank_;
};

struct Line {
    std::string name;
    aivops::Collective call;
};

std::vector<Line> read_calls(const std::string& folder) {
    std::vector<Line> lines;
    std::ifstream file(folder + "/calls");
    for (std::string text; std::getline(file, text);) {
        std::istringstream words(text);
        std::string name, operation, type, reduction;
        uint64_t count = 0;
        uint32_t root = 0, peer = 0;
        words >> name >> operation >> type >> count >> reduction >> root >> peer;
        std::vector<uint64_t> counts{std::istream_iterator<uint64_t>(words), {}};
        lines.push_back({name,
                         {aivops::require_operator(operation),
                          aivops::require_type(type),
                          aivops::require_reduction(reduction),
                          root,
                          peer,
                          count,
                          counts,
                          "",
                          {}}});
    }
    return lines;
}

void run(aivops::Communicator& rank, const std::string& stem, aivops::Collective call) {
    if (call.operation == aivops::Operator::kSendRecv) {
        if (rank.rank() != call.root && rank.rank() != call.peer) {
            return;
        }
        call.peer = rank.rank() == call.root ? call.peer : call.root;
    }
    const aivops::Extent extent = extent_of(call, rank.rank(), rank.size());
    std::ifstream file(stem + ".in", std::ios::binary);
    std::vector<char> input{std::istreambuf_iterator<char>(file), {}};
    if (input.size() != extent.input * width_of(call.type)) {
        throw std::runtime_error(stem + ".in: has " + std::to_string(input.size()) + " bytes, expected " +
                                 std::to_string(extent.input * width_of(call.type)));
    }
    std::vector<char> output(extent.output * width_of(call.type));
    for (int turn = 0; turn < kTurns; ++turn) {
        std::fill(output.begin(), output.end(), '\x5a');
        rank.run(call, input.data(), output.data());
    }
    std::ofstream(stem + ".out", std::ios::binary).write(output.data(), static_cast<std::streamsize>(output.size()));
}

} // namespace

int main(int, char** argv) {
    const aivops::Toolkit& toolkit = aivops::Toolkit::open(argv[1]);
    const aivops::KernelSet& kernels = aivops::KernelSet::open(toolkit, argv[2]);
    const uint32_t ranks = static_cast<uint32_t>(std::stoul(argv[3]));
    const aivops::Terms terms{kWindowBytes, static_cast<uint32_t>(std::stoul(argv[4])), {}};
    const std::string folder = argv[5];
    const std::vector<Line> lines = read_calls(folder);
    Meeting meeting(ranks);
    std::vector<std::thread> threads;
    for (uint32_t rank = 0; rank < ranks; ++rank) {
        threads.emplace_back([&, rank] {
            try {
                const aivops::Device device(toolkit, static_cast<int32_t>(rank));
                aivops::Communicator communicator(device, std::make_shared<ThreadBootstrap>(meeting, rank), terms,
                                                  kernels);
                for (const Line& line : lines) {
                    run(communicator, folder + "/" + line.name + "." + std::to_string(rank), line.call);
                }
                communicator.close();
            } catch (const std::exception& error) {
                // The others wait for this rank for ever.
                std::fprintf(stderr, "rank %u: %s\n", rank, error.what());
                std::_Exit(1);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    std::puts("done");
}
