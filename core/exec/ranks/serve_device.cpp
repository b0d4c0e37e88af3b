// SPDX-License-Identifier: Apache-2.0
#include "core/exec/ranks/serve_device.h"

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/machine.h"
#include "core/exec/mesh_exchange.h"
#include "core/exec/ranks/device_words.h"

#include <cstring>
#include <optional>
#include <utility>

namespace weft::exec {
namespace {

using config::Json;

class CallRecorder final : public StepObserver {
public:
    void step_done(const plan::Step& /*step*/, int position, double start_s,
                   double end_s) override {
        calls_.push_back({position, start_s, end_s, waited_s_});
        waited_s_ = -1;
    }
    void waited(double seconds) override { waited_s_ = seconds; }

    void begin() { calls_.clear(); }
    std::span<const std::byte> bytes() const { return std::as_bytes(std::span(calls_)); }

private:
    std::vector<ObservedCall> calls_;
    double waited_s_ = -1;
};

class DeviceServer {
public:
    DeviceServer(RankMember& member, std::shared_ptr<const plan::ExecutionPlan> plan,
                 const Compute& compute, const ExecutorOptions& options,
                 const OtherCommands& others)
        : member_(member), plan_(plan), compute_(compute), timeout_s_(options.exchange_timeout_s),
          others_(others) {
        if (compute.on_host()) {
            exchange_.emplace(member.world(), add_groups(member.world(), *plan), *plan,
                              member.rank(), MeshExchange::Devices::with_a_process_each);
        }
        device_.emplace(plan, member.rank(), compute, options, exchange_ ? &*exchange_ : nullptr);
    }
    ~DeviceServer() {
        if (world_) {
            member_.follow(nullptr);
        }
    }
    DeviceServer(const DeviceServer&) = delete;
    DeviceServer& operator=(const DeviceServer&) = delete;

    /// While nothing else is to do. False: nothing is under way.
    bool look_after() {
        under_way_ = under_way_ && !device_->look(clock_.steady_s() - queued_s_);
        return under_way_;
    }

    void act(const Frame& command) {
        const Json& head = command.head;
        const auto wanted = head.at("do").get<std::string>();
        const std::string program = head.value("program", "");
        const std::string name = head.value("name", "");
        if (wanted == "join") {
            join(names_of(*plan_, command.body));
        } else if (wanted == "argument") {
            fill(device_->argument(program, name), command.body);
        } else if (wanted == "store") {
            fill(device_->slot(name, HostPart::Use::fill), command.body);
        } else if (wanted == "slot") {
            member_.answer(Json::object(), device_->slot(name, HostPart::Use::look));
        } else if (wanted == "result") {
            member_.answer(Json::object(), device_->result(program, name));
        } else if (wanted == "prepare") {
            device_->prepare(program);
            member_.answer(facts());
        } else if (wanted == "run") {
            run(program, head.at("observed").get<bool>());
        } else if (wanted == "check") {
            const Checking checking{head.at("squares_of").get<std::string>()};
            member_.answer({{"report", to_json(device_->run_checked(program, checking))}});
        } else {
            WEFT_CHECK(others_(command, *device_), "the hub wants what ranks do: " + wanted);
        }
    }

private:
    static void fill(HostPart part, std::span<const std::byte> bytes) {
        WEFT_CHECK(part.size() == bytes.size(), "a part has its size");
        std::memcpy(part.data(), bytes.data(), bytes.size());
        part.store();
    }

    void join(GroupNames names) {
        world_.emplace(compute_, *plan_, timeout_s_, std::move(names), member_.rank());
        member_.follow(&*world_);
        device_->join(*world_);
        member_.answer();
    }

    /// One that works by itself has begun when it answers.
    void run(const std::string& program, bool observed) {
        recorder_.begin();
        device_->set_observer(observed ? &recorder_ : nullptr);
        if (device_->run(program, {}, nullptr) != RunOutcome::finished) {
            throw Error(ErrorKind::device, program, "the run was stopped");
        }
        under_way_ = !compute_.on_host();
        queued_s_ = clock_.steady_s();
        Json head = facts();
        head["use"] = to_json(device_->last_use());
        member_.answer(std::move(head),
                       observed ? recorder_.bytes() : std::span<const std::byte>{});
    }

    Json facts() const {
        return {{"resident_bytes", device_->resident_bytes()},
                {"process_bytes", read_resident_bytes() - start_bytes_}};
    }

    RankMember& member_;
    const std::shared_ptr<const plan::ExecutionPlan> plan_;
    const Compute compute_;
    const double timeout_s_;
    const OtherCommands& others_;
    const SystemClock clock_;
    const std::int64_t start_bytes_ = read_resident_bytes();
    std::optional<MeshExchange> exchange_; // on the host
    std::optional<QueuedWorld> world_;     // of one that works by itself, once it has joined
    std::optional<LocalDevice> device_;
    CallRecorder recorder_;
    bool under_way_ = false; // of one that works by itself: it has not been seen to be done
    double queued_s_ = 0;
};

} // namespace

RankMember::Next serve_device(RankMember& member, std::shared_ptr<const plan::ExecutionPlan> plan,
                              const Compute& compute, const ExecutorOptions& options,
                              const OtherCommands& others) {
    DeviceServer server(member, std::move(plan), compute, options, others);
    member.answer(); // to the command that led here
    // False: it failed, which all ranks hear of.
    const auto succeeds = [&member](const auto& fn) {
        try {
            fn();
            return true;
        } catch (const Error& fault) {
            member.fail(fault);
        } catch (const std::exception& fault) {
            const char* lack = lack_of_memory(fault);
            member.fail(lack != nullptr
                            ? Error(ErrorKind::memory, "", lack)
                            : Error(ErrorKind::runtime, "", fault.what(),
                                    "this is a fault of the program; please report it"));
        }
        return false;
    };
    for (;;) {
        Frame command;
        const RankMember::Next next = member.next(command, [&] {
            bool goes_on = false;
            return succeeds([&] { goes_on = server.look_after(); }) && goes_on;
        });
        if (next != RankMember::Next::command) {
            return next;
        }
        succeeds([&] { server.act(command); });
    }
}

} // namespace weft::exec
