// Runs collectives on ranks of this process, every rank in a thread of its own, on arrays from files.
// usage: collectives TOOLKIT KERNELS RANKS BLOCKS FOLDER
// Each line of FOLDER/calls is `name operator type count reduction root peer counts…`; rank r takes FOLDER/name.r.in
// and gives FOLDER/name.r.out. A line is for all ranks, or for the two of a send/recv, from root to peer; it is called
// three times in a row.
#include "local_group.h"
#include "types.h"

#include <aivops/dispatch.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kTurns = 3;
constexpr uint64_t kWindowBytes = 4 << 20;

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

int main(int, char** argv) try {
    const aivops::Toolkit& toolkit = aivops::Toolkit::open(argv[1]);
    const aivops::KernelSet& kernels = aivops::KernelSet::open(toolkit, argv[2]);
    const int ranks = std::stoi(argv[3]);
    const std::string folder = argv[5];
    std::vector<aivops::Device> devices;
    for (int rank = 0; rank < ranks; ++rank) {
        devices.emplace_back(toolkit, rank);
    }
    aivops::LocalGroup group(devices, kWindowBytes, static_cast<uint32_t>(std::stoul(argv[4])), {}, kernels);
    for (const Line& line : read_calls(folder)) {
        std::vector<std::thread> threads;
        for (uint32_t rank = 0; rank < group.size(); ++rank) {
            threads.emplace_back([&, rank] {
                const std::string stem = folder + "/" + line.name + "." + std::to_string(rank);
                try {
                    run(group.communicator(rank), stem, line.call);
                } catch (const std::exception& error) {
                    std::fprintf(stderr, "%s: %s\n", stem.c_str(), error.what());
                    group.abort(error.what());
                }
            });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
    }
    std::puts("done");
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
