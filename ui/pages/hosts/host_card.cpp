// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/hosts/host_card.h"

#include "ui/bridge/convert.h"
#include "ui/pages/hosts/memory_rows.h"
#include "ui/pages/hosts/partition_rows.h"
#include "widgets/controls/pill.h"
#include "widgets/controls/text_label.h"

#include <QHBoxLayout>
#include <QVBoxLayout>

namespace weft::ui {
namespace {

using config::Json;
using Reach = HostState::Reach;
using widgets::Role;
using widgets::TextLabel;
using widgets::TextStyle;

/// "2 cores · AMD EPYC 9354P": as far as the host says it.
QString processorText(const Json& doctor) {
    const Json cpu = doctor.value("cpu", Json::object());
    QStringList parts;
    if (const auto cores = cpu.find("usable_cores");
        cores != cpu.end() && cores->is_number_integer()) {
        parts << HostCard::tr("%n core(s)", nullptr, cores->get<int>());
    }
    if (const auto name = cpu.find("name"); name != cpu.end() && name->is_string()) {
        parts << toQString(name->get<std::string>()).simplified();
    }
    return parts.join(QStringLiteral(" · "));
}

} // namespace

HostCard::HostCard(QWidget* parent) : Card(parent) {
    setClickable(true);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(12, 10, 12, 10);
    column->setSpacing(4);
    auto* head = new QHBoxLayout;
    title_ = new TextLabel({}, TextStyle::Strong);
    badge_ = new widgets::Badge;
    head->addWidget(title_, 1);
    head->addWidget(badge_);
    column->addLayout(head);
    const auto line = [&](Role role) {
        auto* label = new TextLabel({}, TextStyle::Caption, role);
        label->setWordWrap(true);
        column->addWidget(label);
        return label;
    };
    has_ = line(Role::Muted);
    memory_ = new MemoryRows;
    column->addWidget(memory_);
    partitions_ = new PartitionRows;
    column->addWidget(partitions_);
    lacks_ = line(Role::Warning);
    link_ = line(Role::Muted);
}

void HostCard::setState(const HostState& state) {
    name_ = toQString(state.host.name);
    title_->setText(name_);
    setAccessibleName(name_);
    switch (state.reach) {
    case Reach::Unknown:
    case Reach::Asking:
        badge_->setText(tr("asking …"));
        badge_->setRole(Role::Muted);
        break;
    case Reach::Here:
        badge_->setText(tr("connected"));
        badge_->setRole(Role::Success);
        break;
    case Reach::Lost:
        badge_->setText(tr("no answer"));
        badge_->setRole(Role::Warning);
        break;
    }
    QStringList lacks;
    if (state.look) {
        for (const hosts::HostCheck& one : state.look->checks) {
            if (!one.good) {
                lacks << tr("%1: %2").arg(toQString(one.name), toQString(one.text));
            }
        }
    }
    const bool lost = state.reach == Reach::Lost;
    has_->setText(lost         ? state.problem
                  : state.look ? processorText(state.look->doctor)
                               : QString());
    has_->setVisible(!has_->text().isEmpty());
    memory_->setDoctor(state.look && !lost ? state.look->doctor : Json::object());
    partitions_->setPartitions(state.look && !lost ? state.look->partitions
                                                   : std::vector<hosts::Partition>());
    lacks_->setText(lacks.join(QLatin1Char('\n')));
    lacks_->setVisible(!lost && !lacks.isEmpty());
    link_->setText(
        state.look
            ? tr("%1/s · %2 ms a call")
                  .arg(formatFileSize(static_cast<std::int64_t>(state.look->link_bytes_per_s)),
                       widgets::formatNumber(state.look->round_trip_s * 1000, 2))
            : QString());
    link_->setVisible(!lost && state.look.has_value());
}

} // namespace weft::ui
