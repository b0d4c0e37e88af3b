// SPDX-License-Identifier: Apache-2.0
// One device's end of a world: its groups, and its part of each exchange. Private to core/exec.
#pragma once

#include "core/exec/world/queued_world.h"

#include <unordered_map>

namespace weft::exec {

class GroupExchange final : public QueuedExchange {
public:
    /// Joins all groups of the device, on its thread. Throws weft::Error{device}.
    GroupExchange(QueuedWorld& world, OpenDevice& device);
    ~GroupExchange() override { leave(); }
    GroupExchange(const GroupExchange&) = delete;
    GroupExchange& operator=(const GroupExchange&) = delete;

    int lane(const plan::Step& step) const override;
    void queue(const plan::Step& step, std::span<const void* const> inputs,
               std::span<void* const> outputs, weft_stream* stream) override;
    ExchangeMarks marks(const plan::Step& step) const override;
    void follow(const ProgramMarks& marks) override;
    void forget(const ProgramMarks& marks) override;
    double clock_offset_s() const override;
    std::uint64_t all_ended(const ProgramMarks& marks) const override;
    double all_come_s(const ProgramMarks& marks, int exchange, std::uint64_t number) const override;

private:
    struct Call {
        std::string key; // of the group
        int lane = 0;
        weft_group* group = nullptr;
        weft_collective_call call{};
        std::vector<weft_transfer> transfers;
    };
    struct Joined {
        weft_group* group = nullptr;
        int lane = 0;
        int size = 0;
    };

    std::vector<const ProgramMarks*>& own_programs();
    void join(const std::string& key, const MeetingPlace& meeting);
    void leave();
    void remember(const plan::Step& step);

    QueuedWorld& world_;
    OpenDevice& device_;
    const int place_;
    Stream probe_;
    std::map<std::string, Joined> joined_;
    int message_lanes_ = 0;
    std::unordered_map<const plan::Step*, Call> calls_;
};

} // namespace weft::exec
