// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/plan/step_moment.h"

#include "core/memory/arena.h"
#include "ui/bridge/convert.h"

#include <QCoreApplication>

#include <algorithm>
#include <map>
#include <numeric>

namespace weft::ui {
namespace {

enum Shade { Faint, Strong, Grey };

class StepMomentsText {
    Q_DECLARE_TR_FUNCTIONS(StepMoments)
};

std::size_t index(int number) {
    return static_cast<std::size_t>(number);
}

/// "all-reduce over model"
QString collectiveText(const plan::Collective& one) {
    QStringList axes;
    for (const std::string& axis : one.axes) {
        axes.append(toQString(axis));
    }
    const QString kind = toQString(one.kind).replace('_', '-');
    return axes.isEmpty()
               ? kind
               : StepMomentsText::tr("%1 over %2").arg(kind, axes.join(QStringLiteral(" × ")));
}

/// The part of the step that an op is in.
std::string_view segmentOf(const StepTrack& track, int op) {
    const auto& segments = track.program().segments;
    const auto behind = std::upper_bound(
        segments.begin(), segments.end(), op,
        [](int wanted, const plan::Segment& one) { return wanted < one.first_step; });
    return behind == segments.begin() ? std::string_view() : std::prev(behind)->name;
}

QString segmentText(std::string_view segment) {
    return segment == "setup"    ? StepMomentsText::tr("setup")
           : segment == "update" ? StepMomentsText::tr("update")
                                 : toQString(segment);
}

/// "backward of microbatch 3" for "B3".
QString actionText(const QString& action) {
    const QString kind = action.startsWith('F')   ? StepMomentsText::tr("forward")
                         : action.startsWith('B') ? StepMomentsText::tr("backward")
                         : action.startsWith('I') ? StepMomentsText::tr("input gradient")
                                                  : StepMomentsText::tr("weight gradient");
    const QStringList numbers = action.mid(1).split('.');
    return numbers.size() > 1 ? StepMomentsText::tr("%1 of microbatch %2, chunk %3")
                                    .arg(kind, numbers[0], numbers[1])
                              : StepMomentsText::tr("%1 of microbatch %2").arg(kind, numbers[0]);
}

} // namespace

StepMoments::Memory::Memory(const plan::ExecutionPlan& plan, const plan::PlannedProgram& program) {
    std::array<std::map<int, qint64>, widgets::kMemoryCategoryCount> change;
    for (const plan::StateSlot& slot : plan.state_slots) {
        if (slot.stage == program.stage) {
            change[static_cast<std::size_t>(toWidget(slot.category))][0] +=
                memory::align(slot.type.bytes());
        }
    }
    for (const plan::Buffer& buffer : program.buffers) {
        if (!buffer.is_state) {
            auto& own = change[static_cast<std::size_t>(toWidget(buffer.category))];
            own[std::max(0, buffer.first_step)] += memory::align(buffer.bytes);
            own[buffer.last_step + 1] -= memory::align(buffer.bytes);
        }
    }
    for (std::size_t i = 0; i < change.size(); ++i) {
        qint64 alive = 0;
        for (const auto& [op, bytes] : change[i]) {
            alive += bytes;
            changes_[i].emplace_back(op, alive);
        }
    }
}

MemoryBytes StepMoments::Memory::at(int op) const {
    MemoryBytes out{};
    for (std::size_t i = 0; i < changes_.size(); ++i) {
        const auto behind =
            std::upper_bound(changes_[i].begin(), changes_[i].end(), op,
                             [](int wanted, const auto& change) { return wanted < change.first; });
        out[i] = behind == changes_[i].begin() ? 0 : std::prev(behind)->second;
    }
    return out;
}

StepMoments::StepMoments(std::shared_ptr<const PlanDigest> digest) : digest_(std::move(digest)) {
    const plan::ExecutionPlan none;
    const plan::ExecutionPlan& plan = digest_ ? *digest_->plan : none;
    for (const plan::PlannedProgram* program : plan.all_stages("train_step")) {
        own_ = program->stage == digest_->stage ? static_cast<int>(tracks_.size()) : own_;
        tracks_.emplace_back(*program);
        memory_.emplace_back(plan, *program);
    }
    clock_ = std::make_unique<StepClock>(plan, tracks_);
    if (!tracks_.empty()) {
        touches_ = std::make_unique<StepTouches>(plan, track());
        makePhases();
        makeTimeline();
    }
}

int StepMoments::count() const {
    return tracks_.empty() ? 0 : track().count();
}

// A microstep is forward until its first op of the backward phase. What repeats is shown as often
// as it runs; where that is too often, once, and in words. What hides behind a phase is no end of
// it.
void StepMoments::makePhases() {
    const StepTrack& own = track();
    struct Part {
        std::string_view segment;
        int microstep = 0;
        bool backward = false;
        std::string_view action;
        bool operator==(const Part&) const = default;
    };
    Part part;
    for (int position = 0; position < own.count(); ++position) {
        const int op = own.opAt(position);
        const plan::Step& step = own.step(op);
        if (position > 0 && !step.op.attributes.text("overlaps", "").empty()) {
            ++timeline_.spans.back().count;
            continue;
        }
        Part now;
        now.segment = segmentOf(own, op);
        now.microstep = own.microstepAt(position);
        now.action = step.op.action;
        now.backward =
            step.op.phase == ir::Phase::backward ||
            (part.backward && part.segment == now.segment && part.microstep == now.microstep);
        if (position == 0 || now != part) {
            part = now;
            addPhase(position, part.segment, own.isRepeated(op), part.backward);
        }
        ++timeline_.spans.back().count;
    }
}

void StepMoments::addPhase(int position, std::string_view segment, bool repeated, bool backward) {
    const StepTrack& own = track();
    const QString action = toQString(own.step(own.opAt(position)).op.action);
    Phase phase{position, {}};
    QString name;
    Shade shade = Grey;
    if (!action.isEmpty()) {
        name = action;
        phase.text = actionText(action);
        shade = action.startsWith('F') ? Faint : Strong;
    } else if (segment == "microstep") {
        name = backward ? StepMomentsText::tr("backward") : StepMomentsText::tr("forward");
        if (repeated && own.shownMicrosteps() > 1) {
            name = StepMomentsText::tr("%1 %2 of %3")
                       .arg(name)
                       .arg(own.microstepAt(position) + 1)
                       .arg(own.microsteps());
        } else if (repeated) {
            name = StepMomentsText::tr("%1, %2 times").arg(name, formatCount(own.microsteps()));
        }
        phase.text = name;
        shade = backward ? Strong : Faint;
    } else {
        name = segmentText(segment);
        phase.text = name;
    }
    timeline_.spans.push_back({name, position, 0, shade});
    phases_.push_back(phase);
}

void StepMoments::makeTimeline() {
    const StepTrack& own = track();
    std::vector<MemoryBytes> bytes;
    bytes.reserve(index(own.opCount()));
    std::vector<bool> collective;
    for (int op = 0; op < own.opCount(); ++op) {
        bytes.push_back(memory_[index(own_)].at(op));
        const auto one = plan::collective_of(own.step(op));
        collective.push_back(one && one->kind != "receive" && one->kind != "sent");
    }
    for (std::size_t i = 0; i < MemoryBytes{}.size(); ++i) {
        if (std::any_of(bytes.begin(), bytes.end(), [i](const auto& one) { return one[i] > 0; })) {
            widgets::TimelineLayer& layer = timeline_.layers.emplace_back();
            layer.category = static_cast<widgets::MemoryCategory>(i);
            layer.bytes.reserve(index(own.count()));
            for (int position = 0; position < own.count(); ++position) {
                layer.bytes.push_back(bytes[index(own.opAt(position))][i]);
            }
        }
    }
    for (int position = 0; position < own.count(); ++position) {
        const int op = own.opAt(position);
        timeline_.names.push_back(digest_->timeline.names[index(op)]);
        if (collective[index(op)]) {
            timeline_.ticks.push_back(position);
        }
    }
}

QString StepMoments::title(int op) const {
    const plan::Step& step = track().step(op);
    const auto collective = plan::collective_of(step);
    const QString path = toQString(step.op.path);
    const QString kind = collective ? collectiveText(*collective) : digest_->ops[index(op)].kind;
    if (path.isEmpty()) {
        return kind;
    }
    const bool gradient = step.op.phase == ir::Phase::backward;
    return QStringLiteral("%1, %2").arg(
        gradient ? StepMomentsText::tr("%1 gradient").arg(path) : path, kind);
}

StepMoment StepMoments::at(int position) const {
    return make(position, clock_->startOf(own_, position));
}

StepMoment StepMoments::atTime(double time) const {
    const double bounded = std::clamp(time, 0.0, duration());
    return make(clock_->positionAt(own_, bounded), bounded);
}

int StepMoments::positionAtTime(double time) const {
    return clock_->positionAt(own_, std::clamp(time, 0.0, duration()));
}

int StepMoments::positionOf(int op, int near) const {
    return track().positionOf(op, near);
}

double StepMoments::timeOfAction(int stage, int action) const {
    const bool there = stage >= 0 && index(stage) < tracks_.size() && action >= 0 &&
                       index(action) < clock_->actions(stage).size();
    return there ? clock_->actions(stage)[index(action)].start : 0;
}

int StepMoments::positionOfAction(int action) const {
    const std::string* name = digest_->plan->pipeline && action >= 0
                                  ? &digest_->plan->pipeline->actions[index(own_)][index(action)]
                                  : nullptr;
    for (int position = 0; name != nullptr && position < count(); ++position) {
        if (track().step(track().opAt(position)).op.action == *name) {
            return position;
        }
    }
    return -1;
}

StepMoment StepMoments::make(int position, double time) const {
    StepMoment out;
    const StepTrack& own = track();
    out.position = position;
    out.op = own.opAt(position);
    out.time = time;
    out.microstep = own.microstepAt(position);
    out.microsteps = own.microsteps();
    const auto phase =
        std::upper_bound(phases_.begin(), phases_.end(), position,
                         [](int wanted, const Phase& one) { return wanted < one.first; });
    out.phase = std::prev(phase)->text;
    out.title = title(out.op);
    for (int stage = 0; stage < static_cast<int>(tracks_.size()); ++stage) {
        const bool self = stage == own_;
        const int there = self ? position : clock_->positionAt(stage, time);
        StageMoment& one = out.stages.emplace_back();
        one.bytes = memory_[index(stage)].at(tracks_[index(stage)].opAt(there));
        one.total = std::accumulate(one.bytes.begin(), one.bytes.end(), qint64{0});
        const int action = clock_->actionAt(stage, time);
        if (action >= 0 && time < clock_->actions(stage)[index(action)].end) {
            one.action = toQString(digest_->plan->pipeline->actions[index(stage)][index(action)]);
        } else if (clock_->isAround(stage, there) && (self || time < clock_->endOf(stage, there))) {
            one.around =
                segmentText(segmentOf(tracks_[index(stage)], tracks_[index(stage)].opAt(there)));
        }
    }
    out.bytes = out.stages[index(own_)].bytes;
    out.total = out.stages[index(own_)].total;
    out.place = placeAt(time);
    const auto collective = plan::collective_of(own.step(out.op));
    const bool sends = collective && collective->kind != "receive" && collective->kind != "sent";
    out.collective = sends ? out.op : clock_->hiddenCollectiveAt(time);
    out.touches = touches_->of(own.step(out.op));
    return out;
}

SchedulePlace StepMoments::placeAt(double time) const {
    SchedulePlace out;
    out.stage = own_;
    const std::vector<TimeSpan>& actions = clock_->actions(own_);
    if (actions.empty()) {
        return out;
    }
    out.action = clock_->actionAt(own_, time);
    const double from = out.action < 0 ? clock_->scheduleStart() : actions[index(out.action)].end;
    out.runs = out.action >= 0 && time < from;
    TimeSpan span{from, out.action + 1 < static_cast<int>(actions.size())
                            ? actions[index(out.action + 1)].start
                            : clock_->scheduleEnd()};
    span = out.runs ? actions[index(out.action)] : span;
    out.share = span.end > span.start
                    ? std::clamp((time - span.start) / (span.end - span.start), 0.0, 1.0)
                    : 0;
    return out;
}

std::shared_ptr<const StepMoments> momentsOf(std::shared_ptr<const PlanDigest> digest) {
    return digest && digest->moments
               ? std::shared_ptr<const StepMoments>(digest, digest->moments.get())
               : std::make_shared<const StepMoments>(digest);
}

} // namespace weft::ui
