// SPDX-License-Identifier: Apache-2.0
// A run's ranks as a group, up to thousands of them: how long they take to come together, to hear
// an order and answer, to commit a checkpoint of a file each, and to be there again after one was
// lost. Hub and ranks are the engine's, over sockets of this machine; all share its cores, so a
// rank here costs more than one on a host of its own. What grows faster than the ranks is the hub's
// fault. The limit is a bare exchange with each rank in turn: a byte there and back.
//
//   bench_group [folder] [ranks...]
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/exec/ranks/rank_hub.h"
#include "core/exec/ranks/rank_member.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using namespace weft;
using namespace weft::exec;
using Seconds = std::chrono::duration<double>;

constexpr int kRounds = 9;
constexpr std::size_t kShardBytes = 4096;

double now_s() {
    return Seconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double usual_s(std::vector<double> all) {
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
}

/// Threads with little stacks that do what the hub asks: "order", "save" a file each, "leave".
class Group {
public:
    Group(int size, Path folder) : size_(size), folder_(std::move(folder)) {
        RankHubOptions options;
        options.size = size;
        options.address = "127.0.0.1";
        options.secret = "a benchmark";
        options.identity = {"1", "any", "here", 1, 1, 0};
        hub_ = std::make_unique<RankHub>(std::move(options));
        for (int rank = 1; rank < size; ++rank) {
            ranks_.emplace_back([this, rank] { serve(rank); });
        }
        hub_->gather({});
    }
    ~Group() {
        hub_->end();
        for (std::thread& rank : ranks_) {
            rank.join();
        }
    }
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;

    RankHub& hub() { return *hub_; }

private:
    Path shard(int rank) const { return folder_ / ("rank-" + std::to_string(rank)); }

    void serve(int rank) {
        try {
            RankMember member({.rank = rank,
                               .size = size_,
                               .address = "127.0.0.1",
                               .port = hub_->port(),
                               .secret = "a benchmark",
                               .identity = {"1", "any", "here", 1, 1, 0}});
            const std::string data(kShardBytes, 'x');
            Frame command;
            while (member.next(command) == RankMember::Next::command) {
                const auto wanted = command.head.at("do").get<std::string>();
                if (wanted == "leave") {
                    return;
                }
                if (wanted == "save") {
                    write_file_atomically(shard(rank), data);
                }
                member.answer();
            }
        } catch (const Error& fault) {
            std::fprintf(stderr, "rank %d: %s\n", rank, fault.text().c_str());
        }
    }

    const int size_;
    const Path folder_;
    std::unique_ptr<RankHub> hub_;
    std::vector<std::thread> ranks_;
};

/// Seconds of a byte there and back over as many sockets, one after the other.
double exchange_s(int size) {
    std::vector<std::array<int, 2>> pairs(static_cast<std::size_t>(size - 1));
    for (auto& pair : pairs) {
        if (::socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()) != 0) {
            std::perror("socketpair");
            std::exit(1);
        }
    }
    std::thread other([&pairs] {
        for (const auto& pair : pairs) {
            char byte = 0;
            if (::read(pair[1], &byte, 1) != 1 || ::write(pair[1], &byte, 1) != 1) {
                std::exit(1);
            }
        }
    });
    const double began_s = now_s();
    for (const auto& pair : pairs) {
        char byte = 0;
        if (::write(pair[0], &byte, 1) != 1 || ::read(pair[0], &byte, 1) != 1) {
            std::exit(1);
        }
    }
    const double took_s = now_s() - began_s;
    other.join();
    for (const auto& pair : pairs) {
        ::close(pair[0]);
        ::close(pair[1]);
    }
    return took_s;
}

void measure_group(int size, const Path& folder) {
    const double before_s = now_s();
    auto group = std::make_unique<Group>(size, folder);
    const double start_s = now_s() - before_s;
    std::vector<double> orders, exchanges;
    for (int i = 0; i < kRounds; ++i) {
        const double began_s = now_s();
        group->hub().ask_all({{"do", "order"}});
        orders.push_back(now_s() - began_s);
        exchanges.push_back(exchange_s(size));
    }
    std::vector<double> commits;
    for (int i = 0; i < 3; ++i) {
        const double began_s = now_s();
        group->hub().ask_all({{"do", "save"}});
        sync_directory(folder);
        write_file_atomically(folder / "commit", "all are here");
        commits.push_back(now_s() - began_s);
    }
    const double lost_s = now_s();
    group->hub().tell(size / 2, {{"do", "leave"}});
    try {
        for (;;) {
            group->hub().ask_all({{"do", "order"}});
        }
    } catch (const Error&) {
        // It is known.
    }
    const double known_s = now_s() - lost_s;
    group.reset();
    const double ended_s = now_s() - lost_s;
    group = std::make_unique<Group>(size, folder);
    const double back_s = now_s() - lost_s;
    group.reset();
    const double order_s = usual_s(orders);
    std::printf("%6d %9.3f %9.2f %8.1f %9.3f %9.3f %9.3f %9.3f %9.0f\n", size, start_s,
                order_s * 1e3, order_s / usual_s(exchanges), usual_s(commits), known_s, ended_s,
                back_s, order_s / size * 1e6);
    std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) {
    rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
    rlimit stack{1 << 20, 1 << 20}; // of a thread
    ::setrlimit(RLIMIT_STACK, &stack);
    const Path folder = argc > 1 ? Path(argv[1]) : Path("bench-group");
    std::vector<int> sizes;
    for (int i = 2; i < argc; ++i) {
        sizes.push_back(std::atoi(argv[i]));
    }
    if (sizes.empty()) {
        sizes = {8, 64, 512, 1024, 4096};
    }
    make_directories(folder);
    std::printf("%6s %9s %9s %8s %9s %9s %9s %9s %9s\n", "ranks", "start s", "order ms", "x limit",
                "commit s", "lost s", "ended s", "back s", "us a rank");
    for (const int size : sizes) {
        measure_group(size, folder);
    }
    remove_tree(folder);
    return 0;
}
