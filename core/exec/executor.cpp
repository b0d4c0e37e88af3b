// SPDX-License-Identifier: Apache-2.0
#include "core/exec/executor.h"

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/machine.h"
#include "core/exec/comm/in_process.h"
#include "core/exec/device.h"
#include "core/exec/device_threads.h"
#include "core/exec/mesh_exchange.h"
#include "core/exec/placement_copy.h"
#include "core/exec/ranks/rank_hub.h"
#include "core/exec/ranks/remote_device.h"
#include "core/memory/arena.h"
#include "core/sharding/partition.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <set>

namespace weft::exec {
namespace {

using Ports = std::vector<plan::PlannedPort> plan::PlannedProgram::*;

/// Threads that have not done their part yet, for one that has.
class OthersAtWork {
public:
    explicit OthersAtWork(int count) : left_(count) {}

    /// Of a thread that is one of them, or is not.
    class Part {
    public:
        Part(OthersAtWork& all, bool counts) : all_(counts ? &all : nullptr) {}
        ~Part() {
            if (all_ != nullptr) {
                const std::lock_guard lock(all_->mutex_);
                --all_->left_;
                all_->changed_.notify_all();
            }
        }
        Part(const Part&) = delete;
        Part& operator=(const Part&) = delete;

    private:
        OthersAtWork* all_;
    };

    /// Calls look(seconds) again and again meanwhile.
    template <typename Look>
    void wait(const Look& look) {
        constexpr auto kBetweenLooks = std::chrono::microseconds(500);
        const SystemClock clock;
        const double since_s = clock.steady_s();
        std::unique_lock lock(mutex_);
        while (!changed_.wait_for(lock, kBetweenLooks, [&] { return left_ == 0; })) {
            lock.unlock();
            look(clock.steady_s() - since_s);
            lock.lock();
        }
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int left_;
};

} // namespace

struct Executor::State {
    State(std::shared_ptr<const plan::ExecutionPlan> execution_plan, Compute what,
          ExecutorOptions options)
        : plan(std::move(execution_plan)), compute(std::move(what)), mesh(plan->mesh),
          count(static_cast<int>(mesh.devices())), on_host(compute.on_host()),
          timeout_s(options.exchange_timeout_s) {
        if (options.ranks != nullptr) {
            drive(*options.ranks, options);
            return;
        }
        if (count == 1) {
            devices.push_back(std::make_unique<LocalDevice>(plan, 0, compute, options, nullptr));
            free_alone = free_together = free_bytes();
            if (!on_host) {
                meeting = std::make_unique<QueuedWorld>(compute, *plan, timeout_s,
                                                        name_groups(compute, *plan));
                devices.front()->join(*meeting);
            }
            return;
        }
        if (on_host) {
            exchanges.resize(static_cast<std::size_t>(count));
            connect();
            options.threads = 1;
        }
        for (int i = 0; i < count; ++i) {
            devices.push_back(std::make_unique<LocalDevice>(
                plan, i, compute, options,
                on_host ? exchanges[static_cast<std::size_t>(i)].get() : nullptr));
        }
        threads = std::make_unique<DeviceThreads>(count);
        if (!on_host) {
            meet(-1);
        }
    }

    ~State() {
        if (ranks != nullptr && meeting != nullptr) {
            ranks->follow(nullptr);
        }
    }

    /// Devices that work by themselves, all of this process or only one.
    void meet(int only) {
        free_alone = free_bytes();
        meeting = std::make_unique<QueuedWorld>(compute, *plan, timeout_s,
                                                name_groups(compute, *plan), only);
        if (ranks != nullptr) {
            ranks->follow(meeting.get());
        }
        on_all([&](int device) { devices[static_cast<std::size_t>(device)]->join(*meeting); });
        free_together = free_bytes();
    }

    /// The first device is this process's, each other one of a rank.
    void drive(RankHub& hub, const ExecutorOptions& options) {
        WEFT_CHECK(count == hub.size(), "each rank has a device of the mesh");
        ranks = &hub;
        if (on_host) {
            world = &hub.world();
            const auto groups = add_groups(*world, *plan);
            exchanges.push_back(std::make_unique<MeshExchange>(
                *world, groups, *plan, 0, MeshExchange::Devices::with_a_process_each));
        }
        auto first = std::make_unique<LocalDevice>(plan, 0, compute, options,
                                                   on_host ? exchanges.front().get() : nullptr);
        own = on_host ? nullptr : first.get();
        devices.push_back(std::move(first));
        for (int i = 1; i < count; ++i) {
            devices.push_back(std::make_unique<RemoteDevice>(plan, i, hub, own));
        }
        threads = std::make_unique<DeviceThreads>(count);
        if (!on_host) {
            meet(0);
        }
    }

    /// Of each device now; empty on the host. Throws weft::Error{device}.
    std::vector<std::int64_t> free_bytes() const {
        std::vector<std::int64_t> out;
        for (int place = 0; place < count && !on_host; ++place) {
            weft_device_facts facts{};
            if (compute.platform->describe(compute.device(place), &facts) != WEFT_OK) {
                throw Error(ErrorKind::device, compute.platform->name,
                            std::string("a device cannot be asked for its free memory: ") +
                                compute.platform->last_error(),
                            "run `weft doctor` to see what this machine offers");
            }
            out.push_back(facts.free_bytes);
        }
        return out;
    }

    /// A world in which the devices find each other; the one before may have ended.
    void connect() {
        auto made = std::make_unique<comm::InProcessWorld>(
            count, comm::InProcessOptions{.timeout_s = timeout_s});
        const auto groups = add_groups(*made, *plan);
        for (int i = 0; i < count; ++i) {
            auto& exchange = exchanges[static_cast<std::size_t>(i)];
            MeshExchange connected(*made, groups, *plan, i, MeshExchange::Devices::of_one_process);
            if (exchange == nullptr) {
                exchange = std::make_unique<MeshExchange>(std::move(connected));
            } else { // the device knows it by its address
                *exchange = std::move(connected);
            }
        }
        simulated = std::move(made);
        world = simulated.get();
    }

    /// The part of one device in a run. Whoever stops wakes those who wait for it.
    void run_one(int device, std::string_view program, const std::stop_token& stop,
                 StopVote& vote) {
        try {
            if (devices[static_cast<std::size_t>(device)]->run(program, stop, &vote) ==
                    RunOutcome::stopped &&
                world != nullptr) {
                world->abort("the run was stopped");
            }
        } catch (const Error&) {
            if (!vote.stopped()) {
                throw;
            }
        }
    }

    /// The ports of a name, one for each stage of a pipeline that has it.
    std::vector<const plan::PlannedPort*> ports(Ports list, std::string_view program,
                                                std::string_view name) const {
        std::vector<const plan::PlannedPort*> out;
        for (const plan::PlannedProgram* one : plan->all_stages(program)) {
            for (const plan::PlannedPort& port : one->*list) {
                if (port.name == name) {
                    out.push_back(&port);
                }
            }
        }
        WEFT_CHECK(!out.empty(),
                   "program " + std::string(program) + " has no port " + std::string(name));
        return out;
    }

    const plan::StateSlot& slot(std::string_view name) const {
        const plan::StateSlot* found = plan->find_slot(name);
        WEFT_CHECK(found != nullptr, "the plan has no state slot " + std::string(name));
        return *found;
    }

    /// Does the same on every device, each on its thread.
    template <typename Fn>
    void on_all(const Fn& fn) {
        if (count == 1) {
            fn(0);
            return;
        }
        std::mutex mutex;
        std::exception_ptr cause; // what the others throw follows from it
        OthersAtWork others(count - 1);
        try {
            threads->run([&](int device) {
                const OthersAtWork::Part part(others, own != nullptr && device > 0);
                try {
                    fn(device);
                    if (device == 0 && own != nullptr) {
                        others.wait([&](double waited_s) { own->look(waited_s); });
                    }
                } catch (const std::exception& fault) {
                    if (ranks != nullptr) {
                        const auto* said = dynamic_cast<const Error*>(&fault);
                        ranks->fail(said != nullptr ? *said
                                                    : Error(ErrorKind::runtime, "", fault.what()));
                    }
                    {
                        const std::lock_guard guard(mutex);
                        cause = cause == nullptr ? std::current_exception() : cause;
                    }
                    const std::string reason =
                        "device " + std::to_string(device) + ": " + fault.what();
                    if (world != nullptr) {
                        world->abort(reason);
                    }
                    if (meeting != nullptr) {
                        meeting->failed(device, Error(ErrorKind::device, "", fault.what()));
                    }
                    throw;
                }
            });
        } catch (...) {
            rethrow(cause == nullptr ? std::current_exception() : cause);
        }
    }

    /// Of many processes the hub knows best what came first.
    [[noreturn]] void rethrow(const std::exception_ptr& cause) const {
        try {
            std::rethrow_exception(cause);
        } catch (const Error& fault) {
            throw ranks != nullptr ? ranks->verdict(fault) : fault;
        }
    }

    /// As on_all; what the process grows by beside the arenas is booked as the libraries' own.
    template <typename Fn>
    void on_all_booked(const Fn& fn) {
        if (count == 1) { // the device itself books
            fn(0);
            return;
        }
        const std::int64_t before = heap_bytes();
        on_all(fn);
        library_bytes += heap_bytes() - before;
    }

    std::int64_t heap_bytes() const {
        const ProcessMemory now = read_process_memory();
        std::int64_t bytes = now.resident_bytes - now.file_bytes;
        for (const auto& device : devices) {
            bytes -= on_host ? device->resident_bytes() : 0;
            if (ranks != nullptr) {
                break; // the others are of other processes
            }
        }
        return bytes;
    }

    /// Every device knows its place.
    void write_coordinates(std::string_view program) {
        for (int device = 0; device < count; ++device) {
            const plan::PlannedProgram* own = plan->find(program, plan->stage_of(device));
            WEFT_CHECK(own != nullptr, "the plan has no program " + std::string(program));
            const auto& arguments = own->arguments;
            if (std::any_of(arguments.begin(), arguments.end(),
                            [](const auto& port) { return port.name == sharding::kCoordinates; })) {
                const auto place = mesh.coordinates(device);
                HostPart into = devices[static_cast<std::size_t>(device)]->argument(
                    program, sharding::kCoordinates);
                std::memcpy(into.data(), place.data(), into.size());
                into.store();
            }
        }
    }

    template <typename Part>
    void cut(const ir::Type& whole, const sharding::Sharding& placement,
             std::span<const std::byte> bytes, const Part& part) {
        WEFT_CHECK(bytes.size() == static_cast<std::size_t>(whole.bytes()),
                   "a whole array has its own size");
        for (const std::int64_t device : placement.holders(mesh)) {
            const auto at = static_cast<int>(device);
            HostPart into = part(at);
            cut_part(whole, bytes, placement, mesh, at, into);
            into.store();
        }
    }

    /// The parts joined in `buffer`; the part itself, kept in `only`, where one device holds
    /// everything.
    template <typename Part>
    std::span<const std::byte> join(const ir::Type& whole, const sharding::Sharding& placement,
                                    std::vector<std::byte>& buffer, std::optional<HostPart>& only,
                                    const Part& part) {
        if (placement.is_replicated()) {
            return only.emplace(part(static_cast<int>(placement.holders(mesh).front())));
        }
        buffer.resize(static_cast<std::size_t>(whole.bytes()));
        for (int device = 0; device < count; ++device) {
            if (first_replica(placement, mesh, device)) {
                join_part(whole, buffer, placement, mesh, device, part(device));
            }
        }
        return buffer;
    }

    std::shared_ptr<const plan::ExecutionPlan> plan;
    const Compute compute;
    const sharding::Mesh mesh;
    const int count;
    const bool on_host;
    const double timeout_s;
    RankHub* ranks = nullptr;     // where every device has a process
    LocalDevice* own = nullptr;   // then this process's, if it works by itself: the others may wait
                                  // for what it does
    comm::World* world = nullptr; // of several devices on the host
    std::unique_ptr<comm::InProcessWorld> simulated;
    std::unique_ptr<QueuedWorld> meeting;        // of those that work by themselves
    std::vector<std::int64_t> free_alone;        // by device: all are open
    std::vector<std::int64_t> free_together;     // they have joined groups
    std::vector<std::unique_ptr<MeshExchange>> exchanges;
    std::vector<std::unique_ptr<Device>> devices;
    std::unique_ptr<DeviceThreads> threads;
    std::int64_t library_bytes = 0;                   // of several devices
    std::map<std::string, int, std::less<>> settling; // runs of each program that were booked
    std::vector<std::byte> result_buffer;
    std::optional<HostPart> result_part;
};

Executor::Executor(std::shared_ptr<const plan::ExecutionPlan> plan, Compute compute,
                   ExecutorOptions options)
    : state_(std::make_unique<State>(std::move(plan), std::move(compute), options)) {}

Executor::~Executor() = default;

const plan::ExecutionPlan& Executor::plan() const {
    return *state_->plan;
}

bool Executor::on_host() const {
    return state_->on_host;
}

void Executor::write(std::string_view program, std::string_view name,
                     std::span<const std::byte> whole) {
    for (const auto* port : state_->ports(&plan::PlannedProgram::arguments, program, name)) {
        state_->cut(port->whole, port->placement, whole,
                    [&](int device) { return argument(program, name, device); });
    }
}

std::span<const std::byte> Executor::read(std::string_view program, std::string_view name) {
    const auto found = state_->ports(&plan::PlannedProgram::results, program, name);
    const plan::PlannedPort& port = *found.front();
    state_->result_part.reset();
    return state_->join(port.whole, port.placement, state_->result_buffer, state_->result_part,
                        [&](int device) { return result(program, name, device); });
}

Handover Executor::hand_over(std::string_view program, std::span<const std::string> names) {
    Handover out;
    for (const std::string& name : names) {
        const auto found = state_->ports(&plan::PlannedProgram::results, program, name);
        const sharding::Sharding& placement = found.front()->placement;
        WEFT_CHECK(placement.is_replicated(), name + " is in parts");
        const std::int64_t device = placement.holders(state_->mesh).front();
        state_->devices[static_cast<std::size_t>(device)]->want_result(program, name, out);
    }
    out.send();
    return out;
}

void Executor::write_slot(std::string_view name, std::span<const std::byte> whole) {
    const plan::StateSlot& slot_info = state_->slot(name);
    state_->cut(slot_info.whole, slot_info.placement, whole,
                [&](int device) { return slot(name, device, HostPart::Use::fill); });
}

std::vector<std::byte> Executor::read_slot(std::string_view name) {
    const plan::StateSlot& slot_info = state_->slot(name);
    std::vector<std::byte> out;
    std::optional<HostPart> only;
    const auto bytes = state_->join(slot_info.whole, slot_info.placement, out, only,
                                    [&](int device) { return slot(name, device); });
    if (out.empty()) { // one device holds it whole
        out.assign(bytes.begin(), bytes.end());
    }
    return out;
}

HostPart Executor::slot(std::string_view name, int device, HostPart::Use use) {
    return state_->devices[static_cast<std::size_t>(device)]->slot(name, use);
}

HostPart Executor::argument(std::string_view program, std::string_view name, int device) {
    return state_->devices[static_cast<std::size_t>(device)]->argument(program, name);
}

HostPart Executor::result(std::string_view program, std::string_view name, int device) {
    return state_->devices[static_cast<std::size_t>(device)]->result(program, name);
}

void Executor::prepare(std::string_view program) {
    state_->on_all_booked(
        [&](int device) { state_->devices[static_cast<std::size_t>(device)]->prepare(program); });
}

RunOutcome Executor::run(std::string_view program, std::stop_token stop) {
    if (state_->count == 1) {
        return state_->devices.front()->run(program, std::move(stop), nullptr);
    }
    if (stop.stop_requested()) {
        return RunOutcome::stopped;
    }
    state_->write_coordinates(program);
    if (state_->ranks != nullptr) {
        stop = {}; // what others have begun is not stopped between two of their ops
    }
    StopVote vote;
    const auto run_one = [&](int device) { state_->run_one(device, program, stop, vote); };
    int& booked = state_->settling.try_emplace(std::string(program), 0).first->second;
    if (booked < kSettlingRuns) {
        ++booked;
        state_->on_all_booked(run_one);
    } else {
        state_->on_all(run_one);
    }
    if (vote.stopped()) {
        if (state_->simulated != nullptr) {
            state_->connect();
        }
        return RunOutcome::stopped;
    }
    return RunOutcome::finished;
}

RunReport Executor::run_checked(std::string_view program, const Checking& checking) {
    state_->write_coordinates(program);
    std::vector<RunReport> reports(static_cast<std::size_t>(state_->count));
    state_->on_all([&](int device) {
        const auto at = static_cast<std::size_t>(device);
        reports[at] = state_->devices[at]->run_checked(program, checking);
    });
    // The earliest step, of the first device that met it.
    RunReport out =
        *std::min_element(reports.begin(), reports.end(), [](const auto& a, const auto& b) {
            return a.finite != b.finite ? !a.finite : a.step < b.step;
        });
    // Stages have tensors of their own; of those that several devices have the first one's part.
    out.squares.clear();
    std::set<std::string> known;
    for (const RunReport& report : reports) {
        std::set<std::string> own;
        for (const SeenSquares& one : report.squares) {
            if (!known.contains(one.name)) {
                out.squares.push_back(one);
                own.insert(one.name);
            }
        }
        known.merge(own);
    }
    return out;
}

void Executor::set_observer(StepObserver* observer, int device) {
    state_->devices[static_cast<std::size_t>(device)]->set_observer(observer);
}

void Executor::set_value_observer(ValueObserver* observer, int device) {
    state_->devices[static_cast<std::size_t>(device)]->set_value_observer(observer);
}

void Executor::finish() {
    if (state_->own != nullptr) {
        state_->own->finish();
    }
}

bool Executor::is_here(int device) const {
    return state_->ranks == nullptr || device == 0;
}

std::string Executor::host_of(int device) const {
    return state_->ranks == nullptr ? std::string() : state_->ranks->identity(device).host;
}

DeviceUse Executor::last_use(int device) const {
    return state_->devices[static_cast<std::size_t>(device)]->last_use();
}

std::int64_t Executor::resident_bytes() const {
    std::int64_t bytes = 0;
    for (const auto& device : state_->devices) {
        bytes += device->resident_bytes();
    }
    return bytes;
}

std::int64_t Executor::resident_bytes(int device) const {
    return state_->devices[static_cast<std::size_t>(device)]->resident_bytes();
}

std::int64_t Executor::reserved_bytes(int device) const {
    const plan::Stage& own = plan().stages[static_cast<std::size_t>(plan().stage_of(device))];
    return memory::align(own.arena_bytes) + own.landing_bytes;
}

plan::DeviceMemory Executor::beside(int device) const {
    const auto at = static_cast<std::size_t>(device);
    const auto less = [](std::int64_t before, std::int64_t now) {
        return std::max<std::int64_t>(0, before - now);
    };
    const std::int64_t now = state_->free_bytes().at(at);
    return {0, less(state_->free_together[at], now),
            less(state_->free_alone[at], state_->free_together[at])};
}

std::int64_t Executor::library_bytes() const {
    return state_->count == 1 ? state_->devices.front()->library_bytes()
                              : std::max<std::int64_t>(0, state_->library_bytes);
}

std::int64_t Executor::elsewhere_bytes() const {
    std::int64_t bytes = 0;
    for (const auto& device : state_->devices) {
        bytes += device->process_bytes();
    }
    return bytes;
}

ArenaReport Executor::arena_report() const {
    ArenaReport out;
    for (const auto& device : state_->devices) {
        const ArenaReport own = device->arena_report();
        out.highest_touched_byte = std::max(out.highest_touched_byte, own.highest_touched_byte);
        out.violations.insert(out.violations.end(), own.violations.begin(), own.violations.end());
    }
    return out;
}

} // namespace weft::exec
