// SPDX-License-Identifier: Apache-2.0
#include "core/train/moments.h"

#include "core/compile/programs/loss_scale.h"
#include "core/optim/groups.h"
#include "core/train/progress.h"

namespace weft::train {
namespace {

/// "optimizer.m/layers.0.weight" -> "layers.0.weight".
std::string parameter_of(const std::string& optimizer_slot) {
    return optimizer_slot.substr(optimizer_slot.find('/') + 1);
}

/// The step at which the parent's state of a parameter began.
class ParentCounts {
public:
    explicit ParentCounts(const checkpoint::Manifest& parent) {
        const auto counts = parent.record.counters.find("moments_since");
        if (counts != parent.record.counters.end()) {
            since_ = counts->get<std::vector<std::int64_t>>();
            groups_ = optim::resolve_groups(parent.record.config.at("optimizer"));
        }
    }
    std::int64_t of(const std::string& parameter) const {
        const std::size_t group = groups_.empty() ? 0 : optim::group_of(groups_, parameter);
        return group < since_.size() ? since_[group] : 0;
    }

private:
    std::vector<std::int64_t> since_;
    std::vector<optim::Group> groups_;
};

void begin_anew(exec::Executor& executor, const std::vector<const plan::StateSlot*>& slots) {
    for (const plan::StateSlot* slot : slots) {
        executor.write_slot(slot->name,
                            std::vector<std::byte>(static_cast<std::size_t>(slot->whole.bytes())));
    }
}

} // namespace

bool keeps_skipped(const compile::RunConfig& config, const std::set<std::string>& fresh) {
    using compile::LossScaleSlot;
    return config.loss_scale &&
           !fresh.contains(std::string(compile::kLossScaleSlots[LossScaleSlot::skipped]));
}

std::vector<std::int64_t> moments_of_fork(exec::Executor& executor,
                                          const compile::RunConfig& config,
                                          const checkpoint::Manifest& parent,
                                          const std::set<std::string>& fresh,
                                          std::vector<std::string>& notes) {
    const std::vector<optim::Group> groups = optim::resolve_groups(config.section("optimizer"));
    const ParentCounts counts(parent);
    // What the program takes off itself is not taken off here.
    const std::int64_t skipped = skipped_in(parent.record);
    const bool keeps = keeps_skipped(config, fresh);
    const std::int64_t now = parent.record.step - (keeps ? skipped : 0);
    const std::int64_t later = keeps ? 0 : skipped;
    std::vector<std::set<std::int64_t>> begun(groups.size());
    std::vector<std::vector<const plan::StateSlot*>> slots(groups.size());
    for (const plan::StateSlot& slot : executor.plan().state_slots) {
        if (slot.category != plan::Category::optimizer) {
            continue;
        }
        const std::string parameter = parameter_of(slot.name);
        const std::size_t group = optim::group_of(groups, parameter);
        begun[group].insert(fresh.contains(slot.name) ? now : counts.of(parameter) + later);
        slots[group].push_back(&slot);
    }
    std::vector<std::int64_t> since(groups.size(), 0);
    for (std::size_t group = 0; group < groups.size(); ++group) {
        if (begun[group].size() > 1) {
            begin_anew(executor, slots[group]);
            notes.push_back("some of the optimizer's state for '" + groups[group].match +
                            "' is new: all of it starts fresh, because one count corrects it");
        }
        since[group] = begun[group].size() == 1 ? *begun[group].begin()
                       : begun[group].empty()   ? 0
                                                : now;
    }
    return since;
}

} // namespace weft::train
