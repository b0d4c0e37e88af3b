// SPDX-License-Identifier: Apache-2.0
// All-reduce of f32 between processes: ours over Open MPI and over Gloo, beside what the two
// libraries do themselves, in turns in one run. The limit is what the machine copies in memory: a
// rank sends and receives 2 S (n-1)/n bytes.
//
//   mpirun -np 2 bench_ranks [MiB] [rounds]
#include "core/exec/comm/process_world.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <functional>
#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>
#include <memory>
#include <mpi.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

using namespace weft::exec::comm;
using Seconds = std::chrono::duration<double>;

struct Ranks {
    int rank = 0;
    int size = 1;
};

std::unique_ptr<Transport> load(const char* path, const Ranks& ranks) {
    void* const library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    const auto entry = library == nullptr
                           ? nullptr
                           : reinterpret_cast<TransportEntry>(dlsym(library, kTransportEntry));
    if (entry == nullptr) {
        std::fprintf(stderr, "%s\n", dlerror());
        std::exit(1);
    }
    return std::unique_ptr<Transport>(entry()->make({ranks.rank, ranks.size, "127.0.0.1"}));
}

/// Each rank's address to all of them.
std::vector<std::vector<std::byte>> exchanged(const std::vector<std::byte>& mine, int size) {
    std::vector<int> sizes(static_cast<std::size_t>(size));
    const int own = static_cast<int>(mine.size());
    MPI_Allgather(&own, 1, MPI_INT, sizes.data(), 1, MPI_INT, MPI_COMM_WORLD);
    std::vector<std::vector<std::byte>> out;
    for (int rank = 0; rank < size; ++rank) {
        auto& one = out.emplace_back(mine);
        one.resize(static_cast<std::size_t>(sizes[static_cast<std::size_t>(rank)]));
        MPI_Bcast(one.data(), static_cast<int>(one.size()), MPI_BYTE, rank, MPI_COMM_WORLD);
    }
    return out;
}

struct Ours {
    Ours(const char* path, const Ranks& ranks) : transport(load(path, ranks)) {
        transport->connect(exchanged(transport->address(), ranks.size), 60);
        world = std::make_unique<ProcessWorld>(*transport, ranks.rank, ranks.size);
    }
    std::unique_ptr<Transport> transport;
    std::unique_ptr<ProcessWorld> world;
};

std::shared_ptr<gloo::Context> gloo_context(const Ranks& ranks) {
    std::string folder = "/tmp/bench_ranks.XXXXXX";
    if (ranks.rank == 0 && mkdtemp(folder.data()) == nullptr) {
        std::exit(1);
    }
    MPI_Bcast(folder.data(), static_cast<int>(folder.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
    gloo::rendezvous::FileStore store(folder);
    gloo::transport::tcp::attr attributes("127.0.0.1");
    auto device = gloo::transport::tcp::CreateDevice(attributes);
    auto context = std::make_shared<gloo::rendezvous::Context>(ranks.rank, ranks.size);
    context->connectFullMesh(store, device);
    return context;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    Ranks ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks.size);
    const std::size_t bytes =
        static_cast<std::size_t>(argc > 1 ? std::atof(argv[1]) * (1 << 20) : 64 << 20) & ~3UL;
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 15;
    std::vector<float> data(bytes / sizeof(float));
    std::vector<float> sum(data.size());
    for (std::size_t i = 0; i < data.size(); ++i) {
        data[i] = static_cast<float>((i * 7 + static_cast<std::size_t>(ranks.rank)) % 1000);
    }
    Ours over_mpi(WEFT_MPI_MODULE, ranks);
    Ours over_gloo(WEFT_GLOO_MODULE, ranks);
    const auto context = gloo_context(ranks);
    const auto ours = [&](Ours& one) {
        const Transfer tensor{std::as_bytes(std::span(data)),
                              std::as_writable_bytes(std::span(sum)), weft::ir::DType::f32};
        if (one.world->communicator(ranks.rank).all_reduce({&tensor, 1}, Reduction::sum, "x") !=
            Outcome::finished) {
            std::exit(1);
        }
    };
    struct Way {
        const char* name;
        std::function<void()> run;
        std::vector<double> seconds;
        std::vector<float> result;
    };
    std::vector<Way> ways;
    ways.push_back({"ours over Open MPI", [&] { ours(over_mpi); }, {}, {}});
    ways.push_back({"MPI_Allreduce",
                    [&] {
                        MPI_Allreduce(data.data(), sum.data(), static_cast<int>(data.size()),
                                      MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
                    },
                    {},
                    {}});
    ways.push_back({"ours over Gloo", [&] { ours(over_gloo); }, {}, {}});
    ways.push_back({"gloo::allreduce",
                    [&] {
                        gloo::AllreduceOptions options(context);
                        options.setInput(data.data(), data.size());
                        options.setOutput(sum.data(), sum.size());
                        void (*add)(void*, const void*, const void*, std::size_t) =
                            &gloo::sum<float>;
                        options.setReduceFunction(add);
                        gloo::allreduce(options);
                    },
                    {},
                    {}});
    std::vector<double> copies;
    for (int round = 0; round <= rounds; ++round) {
        for (Way& way : ways) {
            MPI_Barrier(MPI_COMM_WORLD);
            const auto begin = std::chrono::steady_clock::now();
            way.run();
            const double seconds = Seconds(std::chrono::steady_clock::now() - begin).count();
            way.result = sum;
            if (round > 0) { // the first one makes room
                way.seconds.push_back(seconds);
            }
        }
        MPI_Barrier(MPI_COMM_WORLD);
        const auto begin = std::chrono::steady_clock::now();
        std::memcpy(sum.data(), data.data(), bytes);
        copies.push_back(Seconds(std::chrono::steady_clock::now() - begin).count());
    }
    if (ranks.rank == 0) {
        const double moved = 2.0 * static_cast<double>(bytes) * (ranks.size - 1) / ranks.size;
        const double limit_s = median(copies) * moved / static_cast<double>(bytes);
        std::printf("all_reduce of %.1f MiB of f32 between %d processes, %d rounds in turns\n",
                    static_cast<double>(bytes) / (1 << 20), ranks.size, rounds);
        for (const Way& way : ways) {
            const double seconds = median(way.seconds);
            std::printf("  %-20s %8.2f ms  %6.2f GB/s sent by each  %5.2f times one copy of it%s\n",
                        way.name, seconds * 1e3, moved / seconds / 1e9, seconds / limit_s,
                        way.result == ways.front().result ? "" : "  (other bits)");
        }
    }
    MPI_Finalize();
    return 0;
}
