// SPDX-License-Identifier: Apache-2.0
// Where the devices of a world are, by the marks that they leave, in the words of simulated devices
// (core/exec/comm). Private to core/exec.
#pragma once

#include "core/exec/comm/own_exchanges.h"
#include "core/exec/comm/rendezvous.h"
#include "core/exec/queued_program.h"
#include "core/exec/world/meeting_places.h"

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace weft::exec {

/// As they are when it is made; the devices go on meanwhile.
class WorldReport {
public:
    /// `places` by the key that marks name; `programs` by rank.
    WorldReport(const MeetingPlaces& places,
                const std::vector<std::vector<const ProgramMarks*>>& programs);

    /// Who is late at what, or what does not end; `waiting` is the rank that the host waits for.
    std::string stall(int waiting, double timeout_s) const;
    /// What one rank that is called `name` waits for or does not end, of those that are known.
    std::string stall_of(int rank, const std::string& name, double timeout_s) const;
    /// How far the only device has come.
    std::string stall_alone(double timeout_s) const;
    /// "at collective 5 (gradients) of group data", "after collective 4 ...", "before its first
    /// exchange".
    std::string place(int rank) const;
    comm::RankPosition position(int rank) const;

private:
    const comm::Wait* wait_of(int rank) const;
    std::string unended(int rank, const std::string& name) const;
    void read(const std::string& key, const MeetingPlace& place);

    struct Count {
        std::int64_t come = 0;
        std::int64_t done = 0;
        double last_s = 0; // when it came to the last
        std::string what;  // moves there
    };
    bool computes(int rank) const;
    Count count(const std::string& key, int rank) const;

    const std::vector<std::vector<const ProgramMarks*>>& programs_;
    std::deque<comm::Group> groups_; // waits point there and to texts
    std::set<std::string> texts_;
    std::vector<comm::Wait> waits_;
    struct Last {
        double s = 0;
        std::string place;
    };
    std::map<int, Last> last_; // exchange of a rank
};

} // namespace weft::exec
