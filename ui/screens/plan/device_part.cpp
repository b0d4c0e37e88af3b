// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/screens/plan/device_part.h"

#include "core/train/find_meshes.h"
#include "ui/bridge/convert.h"
#include "widgets/card.h"
#include "widgets/device_grid.h"
#include "widgets/memory_legend.h"

#include <QScrollArea>
#include <QVBoxLayout>

#include <algorithm>
#include <set>

namespace weft::ui {
namespace {

// More cards than anybody looks at; the rest is counted.
constexpr std::int64_t kMostCards = 256;

/// "data=0 model=1"
QString placeOf(const sharding::Mesh& mesh, std::int64_t device) {
    QStringList out;
    const auto coordinates = mesh.coordinates(device);
    for (std::size_t i = 0; i < mesh.axes.size(); ++i) {
        out.append(toQString(mesh.axes[i].name) + "=" + QString::number(coordinates[i]));
    }
    return out.join(' ');
}

/// "[0:32]": the samples of a microstep that a device reads; empty where its stage reads none.
QString samplesOf(const plan::ExecutionPlan& plan, std::int64_t device) {
    const plan::PlannedProgram* step = plan.find("train_step", plan.stage_of(device));
    if (step == nullptr) {
        return {};
    }
    for (const plan::PlannedPort& port : step->arguments) {
        if (port.name != "inputs" || port.whole.shape.rank() < 2) {
            continue;
        }
        const auto ranges =
            sharding::ranges(port.placement.dims[1], port.whole.shape[1], plan.mesh, device);
        return ranges.empty() ? QString()
                              : QStringLiteral("[%1:%2]")
                                    .arg(ranges.front().first)
                                    .arg(ranges.back().first + ranges.back().count);
    }
    return {};
}

std::vector<widgets::MemorySegment> arenaSegments(const plan::ExecutionPlan& plan, int stage) {
    std::vector<widgets::MemorySegment> out;
    const plan::PlannedProgram* program = plan::largest_program(plan, stage);
    if (program == nullptr) {
        return out;
    }
    const auto bytes = plan::bytes_by_category(plan, *program);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (bytes[i] > 0) {
            out.push_back({toWidget(static_cast<plan::Category>(i)), bytes[i]});
        }
    }
    std::sort(out.begin(), out.end(),
              [](const auto& a, const auto& b) { return a.category < b.category; });
    return out;
}

} // namespace

DevicePart::DevicePart(QWidget* parent) : QWidget(parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    auto* panel = new widgets::Panel;
    column->addWidget(panel);
    auto* inner = new QVBoxLayout(panel);
    inner->setContentsMargins(0, 0, 0, 0);
    inner->setSpacing(0);
    header_ = new widgets::SectionHeader(tr("Devices"));
    inner->addWidget(header_);
    grid_ = new widgets::DeviceGrid;
    grid_->setObjectName("meshGrid");
    auto* holder = new QWidget;
    auto* margins = new QVBoxLayout(holder);
    margins->setContentsMargins(widgets::space::kGroup, widgets::space::kControl,
                                widgets::space::kGroup, widgets::space::kTight);
    margins->setSpacing(widgets::space::kControl);
    margins->addWidget(grid_);
    legend_ = new widgets::MemoryLegend;
    margins->addWidget(legend_);
    margins->addStretch(1);
    inner->addWidget(widgets::verticalScroll(holder), 1);
}

void DevicePart::setStale(bool stale) {
    grid_->setStale(stale);
}

void DevicePart::setMoment(const StepMoment& moment) {
    std::vector<widgets::DeviceNow> now;
    for (const StageMoment& stage : moment.stages) {
        widgets::DeviceNow& one = now.emplace_back();
        for (std::size_t i = 0; i < stage.bytes.size(); ++i) {
            if (stage.bytes[i] > 0) {
                one.segments.push_back({static_cast<widgets::MemoryCategory>(i), stage.bytes[i]});
            }
        }
        one.bytes = stage.total;
        one.note = moment.stages.size() < 2  ? QString()
                   : !stage.action.isEmpty() ? stage.action
                   : !stage.around.isEmpty() ? stage.around
                                             : tr("waits");
    }
    grid_->setNow(std::move(now));
    if (moment.valid() != at_moment_) {
        at_moment_ = moment.valid();
        describe();
    }
}

void DevicePart::describe() {
    if (!digest_) {
        return;
    }
    const plan::ExecutionPlan& plan = *digest_->plan;
    const auto count = static_cast<int>(plan.mesh.devices());
    QString text = plan.device == "cpu"
                       ? tr("%n simulated", nullptr, count)
                       : tr("%n of %1", nullptr, count).arg(toQString(plan.device_title));
    if (count > kMostCards) {
        text += tr(", the first %1 shown").arg(kMostCards);
    }
    header_->setSubtitle(at_moment_ ? text + tr(" · now, of the peak") : text);
}

void DevicePart::setDigest(const std::shared_ptr<const PlanDigest>& digest) {
    if (digest == digest_) {
        return;
    }
    digest_ = digest;
    const plan::ExecutionPlan& plan = *digest->plan;
    std::vector<widgets::DeviceCard> cards;
    const std::int64_t count = plan.mesh.devices();
    std::vector<std::vector<widgets::MemorySegment>> segments;
    std::set<widgets::MemoryCategory> categories;
    for (std::size_t stage = 0; stage < plan.stages.size(); ++stage) {
        segments.push_back(arenaSegments(plan, static_cast<int>(stage)));
        for (const widgets::MemorySegment& segment : segments.back()) {
            categories.insert(segment.category);
        }
    }
    legend_->setCategories({categories.begin(), categories.end()});
    const bool simulated = plan.device == "cpu";
    for (std::int64_t device = 0; device < std::min(count, kMostCards); ++device) {
        const auto stage = static_cast<std::size_t>(plan.stage_of(device));
        widgets::DeviceCard card;
        card.id = static_cast<int>(device);
        card.name = toQString(plan.device) + ":" + QString::number(device);
        card.place = placeOf(plan.mesh, device);
        const QString samples = samplesOf(plan, device);
        card.note = !samples.isEmpty() ? samples : simulated ? tr("simulated") : QString();
        card.segments = segments[stage];
        card.bytes = plan.stages[stage].arena_bytes;
        card.group = static_cast<int>(stage);
        cards.push_back(std::move(card));
    }
    describe();
    const auto limit = train::limit_of_device(plan);
    grid_->setLimit(limit);
    if (!limit) {
        header_->setTrailing({});
    } else if (plan.fits()) {
        header_->setTrailing(tr("fits"), widgets::Role::Success);
    } else {
        header_->setTrailing(tr("does not fit"), widgets::Role::Error);
    }
    std::vector<int> sizes;
    for (const sharding::Axis& axis : plan.mesh.axes) {
        sizes.push_back(static_cast<int>(axis.size));
    }
    grid_->setDevices(std::move(cards), std::move(sizes));
}

} // namespace weft::ui
