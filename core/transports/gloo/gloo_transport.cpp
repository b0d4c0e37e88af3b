// SPDX-License-Identifier: Apache-2.0
// Messages through Gloo's TCP pairs, which a thread of Gloo's moves forward.
#include "core/exec/comm/transport.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <gloo/transport/context.h>
#include <gloo/transport/tcp/device.h>
#include <memory>
#include <mutex>
#include <stdexcept>

namespace weft::exec::comm {
namespace {

using gloo::transport::UnboundBuffer;
constexpr double kLongest_s = 30.0 * 24 * 3600; // what its clock arithmetic holds
// A pair takes it when it is made, gives it to the socket that a peer opens, and waits five times
// as long to be connected. Without it a peer that is early meets a timeout of -1, which ends the
// process.
constexpr std::chrono::minutes kPairTimeout{2};

class GlooTransport final : public Transport {
public:
    explicit GlooTransport(const TransportOptions& options)
        : rank_(options.rank), size_(options.size) {
        gloo::transport::tcp::attr attributes;
        const std::string named = options.interface;
        if (named.find_first_of(".:") != std::string::npos) {
            attributes.hostname = named;
        } else {
            attributes.iface = named;
        }
        device_ = gloo::transport::tcp::CreateDevice(attributes);
        context_ = device_->createContext(rank_, size_);
        context_->setTimeout(kPairTimeout);
    }

    ~GlooTransport() override {
        operations_.clear();
        context_.reset();
    }

    // Of each pair, one after the other, each with its size before it.
    std::vector<std::byte> address() override {
        std::vector<std::byte> out;
        for (int other = 0; other < size_; ++other) {
            std::vector<char> bytes;
            if (other != rank_) {
                auto& pair = context_->createPair(other);
                pair->setLocalRank(0);
                bytes = pair->address().bytes();
            }
            const auto size = static_cast<std::uint32_t>(bytes.size());
            const std::size_t at = out.size();
            out.resize(at + sizeof(size) + size);
            std::memcpy(out.data() + at, &size, sizeof(size));
            std::copy(bytes.begin(), bytes.end(),
                      reinterpret_cast<char*>(out.data()) + at + sizeof(size));
        }
        return out;
    }

    void connect(const std::vector<std::vector<std::byte>>& addresses,
                 double /*seconds*/) override {
        for (int other = 0; other < size_; ++other) {
            if (other != rank_) {
                context_->getPair(other)->connect(
                    part_of(addresses.at(static_cast<std::size_t>(other)), rank_));
            }
        }
    }

    Ticket send(int to, Tag tag, std::span<const std::byte> bytes) override {
        return begin(Operation{{}, true}, const_cast<std::byte*>(bytes.data()), bytes.size(),
                     [&](UnboundBuffer& buffer) { buffer.send(to, slot_of(tag)); });
    }

    Ticket receive(int from, Tag tag, std::span<std::byte> bytes) override {
        return begin(Operation{{}, false}, bytes.data(), bytes.size(),
                     [&](UnboundBuffer& buffer) { buffer.recv(from, slot_of(tag)); });
    }

    // Gloo says so only to who waits, which is quick for what is done: it need not be asked first.
    bool is_done(Ticket /*ticket*/) override { return false; }

    WaitEnd wait(Ticket ticket, double seconds) override {
        Operation& operation = operations_[static_cast<std::size_t>(ticket)];
        {
            const std::lock_guard lock(mutex_);
            if (interrupted_) {
                return end_early();
            }
            waiting_ = &operation;
        }
        const auto begin = std::chrono::steady_clock::now();
        const std::chrono::milliseconds most = milliseconds_of(seconds);
        bool done = false;
        std::exception_ptr fault;
        try {
            done = operation.sends ? operation.buffer->waitSend(most)
                                   : operation.buffer->waitRecv(most);
        } catch (...) {
            fault = std::current_exception();
        }
        const std::lock_guard lock(mutex_);
        waiting_ = nullptr;
        if (done) {
            operation.buffer.reset();
            free_.push_back(ticket);
            return WaitEnd::done;
        }
        if (interrupted_) {
            return end_early();
        }
        if (std::chrono::steady_clock::now() - begin >= most) {
            end_early();
            return WaitEnd::timed_out;
        }
        end_early();
        if (fault != nullptr) {
            std::rethrow_exception(fault);
        }
        throw std::runtime_error("Gloo ended a wait for no reason that it tells");
    }

    void interrupt() override {
        const std::lock_guard lock(mutex_);
        interrupted_ = true;
        if (waiting_ != nullptr) {
            waiting_->sends ? waiting_->buffer->abortWaitSend() : waiting_->buffer->abortWaitRecv();
        }
    }

    void drop() override {
        const std::lock_guard lock(mutex_);
        interrupted_ = true;
        end_early();
    }

    void leave() override {}

private:
    struct Operation {
        std::unique_ptr<UnboundBuffer> buffer;
        bool sends = false;
    };

    static std::chrono::milliseconds milliseconds_of(double seconds) {
        return std::chrono::milliseconds(
            static_cast<std::int64_t>(std::min(seconds, kLongest_s) * 1000));
    }

    static std::uint64_t slot_of(Tag tag) {
        return (std::uint64_t{tag.channel} << 32U) | tag.number;
    }

    static std::vector<char> part_of(const std::vector<std::byte>& all, int index) {
        std::size_t at = 0;
        std::uint32_t size = 0;
        for (int i = 0;; ++i, at += size) {
            if (all.size() < at + sizeof(size)) {
                throw std::runtime_error("the address of a rank is cut short");
            }
            std::memcpy(&size, all.data() + at, sizeof(size));
            at += sizeof(size);
            if (all.size() - at < size) {
                throw std::runtime_error("the address of a rank is cut short");
            }
            if (i == index) {
                const auto* const first = reinterpret_cast<const char*>(all.data()) + at;
                return {first, first + size};
            }
        }
    }

    template <class Start>
    Ticket begin(Operation operation, std::byte* data, std::size_t bytes, const Start& start) {
        operation.buffer = context_->createUnboundBuffer(data, bytes);
        if (free_.empty()) {
            free_.push_back(static_cast<Ticket>(operations_.size()));
            operations_.emplace_back();
        }
        const Ticket ticket = free_.back();
        free_.pop_back();
        Operation& kept = operations_[static_cast<std::size_t>(ticket)] = std::move(operation);
        start(*kept.buffer);
        return ticket;
    }

    // Gloo's thread touches no memory of operations that are gone.
    WaitEnd end_early() {
        operations_.clear();
        free_.clear();
        return WaitEnd::interrupted;
    }

    const int rank_;
    const int size_;
    std::shared_ptr<gloo::transport::Device> device_;
    std::shared_ptr<gloo::transport::Context> context_;
    std::vector<Operation> operations_; // by ticket
    std::vector<Ticket> free_;
    std::mutex mutex_; // of what follows
    bool interrupted_ = false;
    Operation* waiting_ = nullptr;
};

} // namespace
} // namespace weft::exec::comm

extern "C" __attribute__((visibility("default"))) const weft::exec::comm::TransportModule*
weft_transport_module() {
    using namespace weft::exec::comm;
    static const TransportModule module{
        kTransportEdge, "Gloo",
        [](const TransportOptions& options) -> Transport* { return new GlooTransport(options); }};
    return &module;
}
