// SPDX-License-Identifier: Apache-2.0
#include "core/queue/halving.h"

#include "core/base/check.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace weft::queue {
namespace {

using Members = std::vector<std::size_t>; // numbers of trials

double value_on(const TrialProgress& trial, std::size_t rung) {
    return rung < trial.values.size() ? trial.values[rung] : std::nan("");
}

/// Best first.
Members ranked(const HalvingRules& rules, std::span<const TrialProgress> trials, Members members,
               std::size_t rung) {
    const auto is_better = [&](std::size_t a, std::size_t b) {
        const double of_a = value_on(trials[a], rung);
        const double of_b = value_on(trials[b], rung);
        if (std::isfinite(of_a) != std::isfinite(of_b)) {
            return std::isfinite(of_a);
        }
        if (!std::isfinite(of_a) || of_a == of_b) {
            return a < b;
        }
        return rules.smaller_is_better ? of_a < of_b : of_a > of_b;
    };
    std::sort(members.begin(), members.end(), is_better);
    return members;
}

bool has_value(const TrialProgress& trial, std::size_t rung) {
    return std::isfinite(value_on(trial, rung));
}

/// Not one that was stopped while it waited here.
bool is_promotable(const TrialProgress& trial, std::size_t rung) {
    const bool left = trial.ended && trial.values.size() == rung + 1 && trial.rung <= rung;
    return has_value(trial, rung) && !left;
}

/// It has reached the rung, or never will.
bool is_settled(const TrialProgress& trial, std::size_t rung) {
    return trial.values.size() > rung || trial.ended;
}

void set_places(const Members& order, std::size_t rung, std::vector<Decision>& out) {
    for (std::size_t i = 0; i < order.size(); ++i) {
        out[order[i]].rung = rung;
        out[order[i]].place = i + 1;
        out[order[i]].of = order.size();
    }
}

/// Of a rung that is not complete.
void wait_for_rung(std::span<const TrialProgress> trials, const Members& members, std::size_t rung,
                   std::vector<Decision>& out) {
    for (const std::size_t i : members) {
        const Verdict verdict = trials[i].values.size() > rung ? Verdict::wait
                                : trials[i].ended              ? Verdict::lost
                                                               : Verdict::train;
        out[i] = {verdict, rung, 0, 0};
    }
}

void decide_in_turn(const HalvingRules& rules, std::span<const TrialProgress> trials,
                    std::vector<Decision>& out) {
    Members members(trials.size());
    std::iota(members.begin(), members.end(), std::size_t{0});
    for (std::size_t rung = 0; rung < rules.rungs.size() && !members.empty(); ++rung) {
        const bool complete = std::all_of(members.begin(), members.end(), [&](std::size_t i) {
            return is_settled(trials[i], rung);
        });
        if (!complete) {
            wait_for_rung(trials, members, rung, out);
            return;
        }
        const Members order = ranked(rules, trials, std::move(members), rung);
        set_places(order, rung, out);
        const bool last = rung + 1 == rules.rungs.size();
        std::size_t kept =
            std::max<std::size_t>(1, order.size() / static_cast<std::size_t>(rules.eta));
        members.clear();
        for (const std::size_t i : order) {
            const bool reached = trials[i].values.size() > rung;
            out[i].verdict = !reached ? Verdict::lost : last ? Verdict::complete : Verdict::stop;
            if (!last && kept > 0 && is_promotable(trials[i], rung)) {
                members.push_back(i);
                --kept;
            }
        }
        std::sort(members.begin(), members.end());
    }
}

/// Those that have reached the rung, or never will although they were told to.
Members settled_at(std::span<const TrialProgress> trials, std::size_t rung) {
    Members out;
    for (std::size_t i = 0; i < trials.size(); ++i) {
        const bool lost_here =
            trials[i].ended && trials[i].values.size() == rung && trials[i].rung == rung;
        if (trials[i].values.size() > rung || lost_here) {
            out.push_back(i);
        }
    }
    return out;
}

void decide_at_once(const HalvingRules& rules, std::span<const TrialProgress> trials,
                    std::vector<Decision>& out) {
    bool at_work = false;
    for (std::size_t i = 0; i < trials.size(); ++i) {
        const std::size_t reached = trials[i].values.size();
        const bool trains = !trials[i].ended && trials[i].rung >= reached && //
                            reached < rules.rungs.size();
        out[i] = trains            ? Decision{Verdict::train, reached, 0, 0}
                 : trials[i].ended ? Decision{Verdict::lost, reached, 0, 0}
                                   : Decision{Verdict::wait, reached - 1, 0, 0};
        at_work = at_work || trains;
    }
    for (std::size_t rung = 0; rung < rules.rungs.size(); ++rung) {
        const Members order = ranked(rules, trials, settled_at(trials, rung), rung);
        const bool last = rung + 1 == rules.rungs.size();
        const std::size_t kept = order.size() / static_cast<std::size_t>(rules.eta);
        for (std::size_t i = 0; i < order.size(); ++i) {
            Decision& one = out[order[i]];
            if (one.rung != rung ||
                (one.verdict != Verdict::wait && one.verdict != Verdict::lost)) {
                continue;
            }
            one.place = i + 1;
            one.of = order.size();
            if (one.verdict == Verdict::lost) {
                continue;
            }
            if (last) {
                one.verdict = Verdict::complete;
            } else if (i < kept && is_promotable(trials[order[i]], rung)) {
                one = {Verdict::train, rung + 1, 0, 0};
                at_work = true;
            }
        }
    }
    if (at_work) {
        return;
    }
    for (Decision& one : out) {
        one.verdict = one.verdict == Verdict::wait ? Verdict::stop : one.verdict;
    }
}

} // namespace

std::vector<std::int64_t> rungs_of(std::int64_t least, std::int64_t most, int eta) {
    WEFT_CHECK(least >= 1 && least <= most && eta >= 2, "rungs rise from at least one step");
    std::vector<std::int64_t> out;
    for (std::int64_t steps = least; steps <= most; steps *= eta) {
        out.push_back(steps);
        if (steps > most / eta) {
            break;
        }
    }
    out.back() = most;
    return out;
}

std::int64_t least_of(std::int64_t trials, std::int64_t most, int eta) {
    std::int64_t least = most;
    for (; trials >= eta && least / eta >= 1; trials /= eta) {
        least /= eta;
    }
    return least;
}

std::vector<Decision> decide(const HalvingRules& rules, std::span<const TrialProgress> trials) {
    WEFT_CHECK(rules.eta >= 2 && !rules.rungs.empty(), "halving needs a factor and rungs");
    std::vector<Decision> out(trials.size());
    rules.asynchronous ? decide_at_once(rules, trials, out) : decide_in_turn(rules, trials, out);
    return out;
}

std::optional<std::size_t> best_trial(const HalvingRules& rules,
                                      std::span<const TrialProgress> trials) {
    for (std::size_t rung = rules.rungs.size(); rung-- > 0;) {
        Members members;
        for (std::size_t i = 0; i < trials.size(); ++i) {
            if (has_value(trials[i], rung)) {
                members.push_back(i);
            }
        }
        if (!members.empty()) {
            return ranked(rules, trials, std::move(members), rung).front();
        }
    }
    return std::nullopt;
}

} // namespace weft::queue
