// SPDX-License-Identifier: Apache-2.0
// Where a plan has its devices meet: groups and messages by a key, and whether those who meet there
// mean the same. Private to core/exec.
#pragma once

#include "core/plan/plan.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace weft::exec {

/// Who meets, and where: the ranks of a group as devices of the mesh, in its order. Messages have
/// two, the sender first.
struct MeetingPlace {
    std::string axes;
    std::vector<int> devices;
    bool messages = false;
};
/// By keys that sort as they are joined: "group data of 0", "messages 0 to 1".
using MeetingPlaces = std::map<std::string, MeetingPlace>;

bool is_message(const plan::Step& step);
/// Calls fn(step) for each exchange that devices queue, in loops as often as they run where
/// `unrolls`.
void for_each_queued_exchange(const std::vector<plan::Step>& steps, bool unrolls,
                              const std::function<void(const plan::Step&)>& fn);

/// Devices of the group that a place of the mesh has over these axes.
std::vector<int> group_of(const plan::ExecutionPlan& plan, const std::string& axes, int place);
/// Where a rank makes the call of a step.
std::string meeting_key(const plan::ExecutionPlan& plan, const plan::Step& step, int place);
MeetingPlaces meeting_places(const plan::ExecutionPlan& plan);

/// Before anything moves: throws weft::Error{device} when those who meet would call different
/// exchanges.
void compare_calls(const plan::ExecutionPlan& plan, const MeetingPlaces& places);

} // namespace weft::exec
