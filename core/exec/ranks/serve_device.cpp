// SPDX-License-Identifier: Apache-2.0
#include "core/exec/ranks/serve_device.h"

#include "core/base/error.h"
#include "core/exec/mesh_exchange.h"
#include "core/exec/ranks/device_words.h"

#include <cstring>

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
        : member_(member), others_(others),
          exchange_(member.world(), add_groups(member.world(), *plan), *plan, member.rank()),
          device_(plan, member.rank(), compute, options, &exchange_) {}

    void act(const Frame& command) {
        const Json& head = command.head;
        const auto wanted = head.at("do").get<std::string>();
        const std::string program = head.value("program", "");
        const std::string name = head.value("name", "");
        if (wanted == "argument") {
            fill(device_.argument(program, name), command.body);
        } else if (wanted == "store") {
            fill(device_.slot(name, HostPart::Use::fill), command.body);
        } else if (wanted == "slot") {
            member_.answer(Json::object(), device_.slot(name, HostPart::Use::look));
        } else if (wanted == "result") {
            member_.answer(Json::object(), device_.result(program, name));
        } else if (wanted == "prepare") {
            device_.prepare(program);
            member_.answer(facts());
        } else if (wanted == "run") {
            run(program, head.at("observed").get<bool>());
        } else if (wanted == "check") {
            const Checking checking{head.at("squares_of").get<std::string>()};
            member_.answer({{"report", to_json(device_.run_checked(program, checking))}});
        } else {
            WEFT_CHECK(others_(command, device_), "the hub wants what ranks do: " + wanted);
        }
    }

private:
    static void fill(HostPart part, std::span<const std::byte> bytes) {
        WEFT_CHECK(part.size() == bytes.size(), "a part has its size");
        std::memcpy(part.data(), bytes.data(), bytes.size());
        part.store();
    }

    void run(const std::string& program, bool observed) {
        recorder_.begin();
        device_.set_observer(observed ? &recorder_ : nullptr);
        if (device_.run(program, {}, nullptr) != RunOutcome::finished) {
            throw Error(ErrorKind::device, program, "the run was stopped");
        }
        Json head = facts();
        head["use"] = to_json(device_.last_use());
        member_.answer(std::move(head),
                       observed ? recorder_.bytes() : std::span<const std::byte>{});
    }

    Json facts() const {
        return {{"resident_bytes", device_.resident_bytes()},
                {"library_bytes", device_.library_bytes()}};
    }

    RankMember& member_;
    const OtherCommands& others_;
    MeshExchange exchange_;
    LocalDevice device_;
    CallRecorder recorder_;
};

} // namespace

RankMember::Next serve_device(RankMember& member, std::shared_ptr<const plan::ExecutionPlan> plan,
                              const Compute& compute, const ExecutorOptions& options,
                              const OtherCommands& others) {
    DeviceServer server(member, std::move(plan), compute, options, others);
    member.answer(); // to the command that led here
    for (;;) {
        Frame command;
        const RankMember::Next next = member.next(command);
        if (next != RankMember::Next::command) {
            return next;
        }
        try {
            server.act(command);
        } catch (const Error& fault) {
            member.fail(fault);
        } catch (const std::exception& fault) {
            const char* lack = lack_of_memory(fault);
            member.fail(lack != nullptr
                            ? Error(ErrorKind::memory, "", lack)
                            : Error(ErrorKind::runtime, "", fault.what(),
                                    "this is a fault of the program; please report it"));
        }
    }
}

} // namespace weft::exec
