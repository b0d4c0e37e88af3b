// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/hosts/host_card.h"

#include "ui/bridge/convert.h"
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

/// "AMD EPYC, 2 cores, 23.5 GiB; NVIDIA H100, 80 GiB": as far as the host says it.
QString hostMachineText(const Json& doctor) {
    QStringList parts;
    const auto text = [](const Json& of, const char* key) {
        return of.contains(key) && of.at(key).is_string() ? toQString(of.at(key).get<std::string>())
                                                          : QString();
    };
    const auto whole = [](const Json& of, const char* key) {
        return of.contains(key) && of.at(key).is_number() ? of.at(key).get<std::int64_t>() : 0;
    };
    if (const std::int64_t cores = whole(doctor.value("cpu", Json::object()), "usable_cores");
        cores > 0) {
        parts << HostCard::tr("%n core(s)", nullptr, static_cast<int>(cores));
    }
    if (const std::int64_t memory = whole(doctor, "memory_bytes"); memory > 0) {
        parts << formatFileSize(memory);
    }
    const Json cuda = doctor.value("cuda", Json::object());
    for (const Json& gpu : cuda.value("devices", Json::array())) {
        parts << HostCard::tr("%1, %2").arg(text(gpu, "name"),
                                            formatFileSize(whole(gpu, "memory_bytes")));
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
                  : state.look ? hostMachineText(state.look->doctor)
                               : QString());
    has_->setVisible(!has_->text().isEmpty());
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
