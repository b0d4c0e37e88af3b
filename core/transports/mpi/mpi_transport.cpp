// SPDX-License-Identifier: Apache-2.0
// Messages through MPI, of which the thread that waits is the only one to move anything forward.
#include "core/exec/comm/transport.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <mpi.h>
#include <sched.h>
#include <stdexcept>
#include <sys/uio.h>
#include <unistd.h>

namespace weft::exec::comm {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30; // of one message: MPI counts in int
constexpr auto kBusy = std::chrono::microseconds(50);    // before a wait sleeps
constexpr long kNap_ns = 50'000;

void check(int code, const char* what) {
    if (code == MPI_SUCCESS) {
        return;
    }
    char text[MPI_MAX_ERROR_STRING];
    int size = 0;
    MPI_Error_string(code, text, &size);
    throw std::runtime_error(std::string(what) +
                             " failed: " + std::string(text, static_cast<std::size_t>(size)));
}

/// Containers often forbid that one process reads another's memory, which Open MPI finds out only
/// when it is about to.
bool may_read_other_processes() {
    char from = 1;
    char to = 0;
    const iovec source{&from, 1};
    const iovec destination{&to, 1};
    return process_vm_readv(getpid(), &destination, 1, &source, 1, 0) == 1;
}

class MpiTransport final : public Transport {
public:
    explicit MpiTransport(const TransportOptions& options) : options_(options) {}

    std::vector<std::byte> address() override { return {}; } // mpirun has told it

    void connect(const std::vector<std::vector<std::byte>>& /*addresses*/,
                 double seconds) override {
        int ready = 0;
        check(MPI_Initialized(&ready), "MPI_Initialized");
        if (ready == 0) {
            if (!may_read_other_processes()) {
                setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
            }
            int level = 0;
            check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level),
                  "MPI_Init_thread");
            if (level < MPI_THREAD_SERIALIZED) {
                throw std::runtime_error("this MPI cannot be used by a thread beside the first");
            }
        }
        check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN),
              "MPI_Comm_set_errhandler");
        int rank = 0;
        int size = 0;
        check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
        check(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
        if (rank != options_.rank || size != options_.size) {
            throw std::runtime_error(
                "MPI counts this process as rank " + std::to_string(rank) + " of " +
                std::to_string(size) + ", the run as rank " + std::to_string(options_.rank) +
                " of " + std::to_string(options_.size) + ": start all ranks with one mpirun");
        }
        requests_.emplace_back(1, MPI_REQUEST_NULL);
        check(MPI_Ibarrier(MPI_COMM_WORLD, requests_.back().data()), "MPI_Ibarrier");
        if (wait(0, seconds) != WaitEnd::done) {
            throw std::runtime_error("the ranks did not meet in MPI");
        }
    }

    Ticket send(int to, Tag tag, std::span<const std::byte> bytes) override {
        return begin(bytes.size(), [&](std::size_t first, int count, MPI_Request* request) {
            check(MPI_Isend(bytes.data() + first, count, MPI_BYTE, to,
                            static_cast<int>(tag.channel), MPI_COMM_WORLD, request),
                  "MPI_Isend");
        });
    }

    Ticket receive(int from, Tag tag, std::span<std::byte> bytes) override {
        return begin(bytes.size(), [&](std::size_t first, int count, MPI_Request* request) {
            check(MPI_Irecv(bytes.data() + first, count, MPI_BYTE, from,
                            static_cast<int>(tag.channel), MPI_COMM_WORLD, request),
                  "MPI_Irecv");
        });
    }

    bool is_done(Ticket ticket) override {
        std::vector<MPI_Request>& parts = requests_[static_cast<std::size_t>(ticket)];
        int done = 0;
        check(MPI_Testall(static_cast<int>(parts.size()), parts.data(), &done, MPI_STATUSES_IGNORE),
              "MPI_Testall");
        if (done != 0) {
            parts.clear();
            free_.push_back(ticket);
        }
        return done != 0;
    }

    WaitEnd wait(Ticket ticket, double seconds) override {
        using Clock = std::chrono::steady_clock;
        const auto begin = Clock::now();
        for (;;) {
            if (is_done(ticket)) {
                return WaitEnd::done;
            }
            if (interrupted_) {
                return WaitEnd::interrupted;
            }
            const auto waited = Clock::now() - begin;
            if (std::chrono::duration<double>(waited).count() > seconds) {
                return WaitEnd::timed_out;
            }
            if (waited < kBusy) {
                sched_yield();
            } else {
                const timespec nap{0, kNap_ns};
                nanosleep(&nap, nullptr);
            }
        }
    }

    void interrupt() override { interrupted_ = true; }

    // Only calls of MPI move anything, and there are none any more.
    void drop() override { interrupted_ = true; }

    void leave() override { check(MPI_Finalize(), "MPI_Finalize"); }

private:
    template <class Start>
    Ticket begin(std::size_t bytes, const Start& start) {
        if (free_.empty()) {
            free_.push_back(static_cast<Ticket>(requests_.size()));
            requests_.emplace_back();
        }
        const Ticket ticket = free_.back();
        free_.pop_back();
        std::vector<MPI_Request>& parts = requests_[static_cast<std::size_t>(ticket)];
        for (std::size_t first = 0; first < bytes; first += kMostBytes) {
            const std::size_t count = std::min(kMostBytes, bytes - first);
            start(first, static_cast<int>(count), &parts.emplace_back(MPI_REQUEST_NULL));
        }
        return ticket;
    }

    const TransportOptions options_;
    std::vector<std::vector<MPI_Request>> requests_; // by ticket
    std::vector<Ticket> free_;
    std::atomic<bool> interrupted_ = false;
};

const char* library() {
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int size = 0;
    if (MPI_Get_library_version(text, &size) != MPI_SUCCESS) {
        return "MPI";
    }
    if (char* const comma = std::find(text, text + size, ','); comma != text + size) {
        *comma = 0; // the rest is about the build
    }
    return text;
}

} // namespace
} // namespace weft::exec::comm

extern "C" __attribute__((visibility("default"))) const weft::exec::comm::TransportModule*
weft_transport_module() {
    using namespace weft::exec::comm;
    static const TransportModule module{
        kTransportEdge, library(),
        [](const TransportOptions& options) -> Transport* { return new MpiTransport(options); }};
    return &module;
}
