// SPDX-License-Identifier: Apache-2.0
#include "core/exec/world/queued_world.h"

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/exec/world/group_exchange.h"

#include <algorithm>
#include <utility>

namespace weft::exec {

namespace {

Error failed_exchange(const weft_collectives& collectives, const std::string& what) {
    const std::string text = collectives.last_error();
    return {ErrorKind::device, what,
            "an exchange between devices failed: " + (text.empty() ? "no further text" : text),
            "run `weft doctor` to see how the devices are connected"};
}

} // namespace

GroupNames name_groups(const Compute& compute, const plan::ExecutionPlan& plan) {
    const MeetingPlaces places = meeting_places(plan);
    if (compute.collectives == nullptr && !places.empty()) {
        throw Error(ErrorKind::device, compute.platform->name,
                    "these devices cannot exchange data with each other",
                    "run on one device, or see `weft doctor` for what is missing");
    }
    GroupNames out;
    for (const auto& [key, place] : places) {
        if (compute.collectives->name_group(&out[key]) != WEFT_OK) {
            throw failed_exchange(*compute.collectives, key);
        }
    }
    return out;
}

QueuedWorld::QueuedWorld(const Compute& compute, const plan::ExecutionPlan& plan, double timeout_s,
                         GroupNames names, int only)
    : compute_(compute), plan_(plan), places_(meeting_places(plan)), names_(std::move(names)),
      timeout_s_(timeout_s), only_(only), ranks_(static_cast<std::size_t>(plan.mesh.devices())),
      programs_(ranks_.size()) {
    compare_calls(plan, places_);
    for (const auto& [key, place] : places_) {
        if (knows_all()) {
            meeting_[key] = {place.devices, static_cast<int>(place.devices.size())};
        } else if (std::ranges::find(place.devices, only_) != place.devices.end()) {
            meeting_[key] = {{only_}, 1};
        }
    }
}

Error QueuedWorld::exchange_error(const std::string& what) const {
    return failed_exchange(collectives(), what);
}

std::unique_ptr<QueuedExchange> QueuedWorld::join(OpenDevice& device) {
    device.set_watch(this);
    return std::make_unique<GroupExchange>(*this, device);
}

Error QueuedWorld::ended() const {
    return {ErrorKind::device, alone() ? name_of(0) : compute_.platform->name, failure_,
            "resume from the last checkpoint; `weft doctor` shows what the devices say"};
}

void QueuedWorld::end(const std::string& reason) {
    if (!failure_.empty()) {
        return;
    }
    failure_ = reason;
    ended_s_ = clock_.steady_s();
    for (const End& end : joined_) {
        collectives().abort(end.group);
    }
}

bool QueuedWorld::gave_up() const {
    constexpr double kGrace_s = 1; // for what ends when its group has ended
    const std::lock_guard lock(mutex_);
    return !failure_.empty() && clock_.steady_s() - ended_s_ > kGrace_s;
}

comm::RankPosition QueuedWorld::position() const {
    const std::lock_guard lock(mutex_);
    return report().position(only_);
}

void QueuedWorld::abort(std::string reason) {
    const std::lock_guard lock(mutex_);
    end(reason);
}

std::string QueuedWorld::name_of(int place) const {
    const std::string device =
        std::string(compute_.platform->name) + ":" + std::to_string(compute_.device(place));
    return alone() ? device : "rank " + std::to_string(place) + " (" + device + ")";
}

Error QueuedWorld::failed(int place, const Error& fault) {
    const std::lock_guard lock(mutex_);
    if (!failure_.empty()) {
        return ended();
    }
    end(alone() ? fault.text()
                : name_of(place) + " failed " + report().place(place) + ": " + fault.text());
    return {fault.kind(), fault.where(), failure_, fault.hint()};
}

void QueuedWorld::waiting(int place, double seconds) {
    const double now_s = clock_.steady_s();
    {
        const std::lock_guard lock(mutex_);
        read_clocks(now_s);
        if (failure_.empty()) {
            end_broken_group();
        }
        if (failure_.empty() && has_stalled(now_s, seconds)) {
            end(hang(place));
        }
        if (!failure_.empty()) {
            throw ended();
        }
    }
    look_at_others(place, now_s);
}

/// A program's end is noticed at once or a while later: what is least is nearest.
void QueuedWorld::read_clocks(double now_s) {
    constexpr double kDrift = 50e-6; // of quartz against quartz, at most
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
        Rank& rank = ranks_[i];
        for (const ProgramMarks* program : programs_[i]) {
            const std::uint64_t number = times_past(*program->ended);
            std::uint64_t& seen = rank.ended[program];
            if (std::exchange(seen, number) != number) {
                rank.offset_s = std::min(rank.offset_s + (now_s - rank.seen_s) * kDrift,
                                         now_s - past_s(*program->ended, number));
                rank.seen_s = now_s;
            }
        }
    }
}

void QueuedWorld::end_broken_group() {
    for (const End& one : joined_) {
        if (collectives().check(one.group) != WEFT_OK) {
            const std::string text = collectives().last_error();
            end(name_of(one.place) + " failed " + report().place(one.place) + ": " + text);
            return;
        }
    }
}

/// Neither a mark nor a joining for the whole timeout, of which the device has waited all. Only
/// time in which somebody looks counts: where the whole process is kept from running, nobody hangs.
bool QueuedWorld::has_stalled(double now_s, double waited_s) {
    constexpr double kBetweenLooks_s = 0.005; // marks are many
    constexpr double kMostOfOneLook_s = 0.05;
    const double passed_s = now_s - counted_s_;
    if (passed_s < kBetweenLooks_s) {
        return false;
    }
    counted_s_ = now_s;
    std::uint64_t progress = joined_.size();
    for (const auto& programs : programs_) {
        for (const ProgramMarks* program : programs) {
            progress += times_past(*program->begun) + times_past(*program->gone_on) +
                        times_past(*program->ended);
            for (const ExchangeMarks& exchange : program->exchanges) {
                progress += times_past(*exchange.come) + times_past(*exchange.done);
            }
        }
    }
    still_s_ = std::exchange(progress_, progress) != progress
                   ? 0
                   : still_s_ + std::min(passed_s, kMostOfOneLook_s);
    // Whose own device hangs has the first word before those who wait for it.
    constexpr double kAfterYou_s = 1;
    const double patience_s =
        timeout_s_ + (knows_all() || report().position(only_).where.empty() ? 0 : kAfterYou_s);
    return std::min(still_s_, waited_s) > patience_s;
}

std::string QueuedWorld::hang(int place) const {
    for (const auto& [key, ranks] : meeting_) {
        if (ranks.apart > 0 && !knows_all()) {
            return name_of(place) + " has not met the other ranks to join " + key +
                   ", for more than " + format_duration(timeout_s_);
        }
        if (ranks.apart > 0) {
            return (ranks.absent.empty()
                        ? "all ranks have come to join " + key + ", and it does not end"
                        : name_of(ranks.absent.front()) + " has not come to join " + key) +
                   ", for more than " + format_duration(timeout_s_);
        }
    }
    if (!knows_all()) {
        return report().stall_of(place, name_of(place), timeout_s_);
    }
    return alone() ? report().stall_alone(timeout_s_) : report().stall(place, timeout_s_);
}

/// A device that is dead says so to whoever asks it for anything.
void QueuedWorld::look_at_others(int place, double now_s) {
    constexpr double kBetweenLooks_s = 0.05;
    std::vector<Rank> others;
    {
        const std::lock_guard lock(mutex_);
        if (now_s - looked_s_ < kBetweenLooks_s) {
            return;
        }
        looked_s_ = now_s;
        others = ranks_;
    }
    for (const Rank& other : others) {
        if (other.device != nullptr && other.device->place() != place) {
            other.device->enter();
            other.device->look(other.probe);
        }
    }
    if (OpenDevice* own = others[static_cast<std::size_t>(place)].device; own != nullptr) {
        own->enter();
    }
}

} // namespace weft::exec
