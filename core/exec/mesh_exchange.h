// SPDX-License-Identifier: Apache-2.0
// The exchanges of a plan between the devices of its mesh, as collectives of a World. Private to
// core/exec.
#pragma once

#include "core/exec/comm/communicator.h"
#include "core/exec/device.h"

#include <map>
#include <unordered_map>
#include <vector>

namespace weft::exec {

/// The groups that the plan's exchanges need, by their axes as text. Makes them; once per world.
std::map<std::string, comm::GroupSet> add_groups(comm::World& world,
                                                 const plan::ExecutionPlan& plan);

class MeshExchange final : public Exchange {
public:
    enum class Devices : std::uint8_t { of_one_process, with_a_process_each };
    /// `world` and `plan` outlive it.
    MeshExchange(comm::World& world, const std::map<std::string, comm::GroupSet>& groups,
                 const plan::ExecutionPlan& plan, int device, Devices devices);

    void run(const plan::Step& step, std::span<const void* const> inputs,
             std::span<void* const> outputs) override;
    const std::vector<std::string>& links() const override { return links_; }
    std::size_t link_of(const plan::Step& step) const override { return calls_.at(&step).link; }
    comm::Traffic traffic(std::size_t link) const override { return groups_[link]->traffic(); }
    bool may_go_beside() const override { return devices_ == Devices::with_a_process_each; }

private:
    enum class Kind : std::uint8_t {
        all_reduce,
        all_gather,
        reduce_scatter,
        all_to_all,
        permute,
        send,
        sent,
        receive,
    };
    struct Call {
        Kind kind = Kind::all_reduce;
        comm::Communicator* group = nullptr;
        std::size_t link = 0;
        comm::Reduction reduction = comm::Reduction::sum;
        std::vector<comm::Route> routes;
        int peer = 0; // of a message
        std::string what;
        std::vector<comm::Transfer> transfers; // one per operand; filled in by run
    };
    /// A step of the kind of a message: true when it was one.
    bool run_message(const Call& call, const plan::Step& step, std::span<const void* const> inputs,
                     std::span<void* const> outputs);

    Devices devices_;
    std::unordered_map<const plan::Step*, Call> calls_;
    std::vector<std::string> links_;
    std::vector<const comm::Communicator*> groups_;                     // by link
    std::map<std::pair<comm::Communicator*, int>, std::int64_t> freed_; // messages, by peer
};

} // namespace weft::exec
