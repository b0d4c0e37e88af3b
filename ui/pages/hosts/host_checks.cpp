// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/hosts/host_checks.h"

#include "ui/bridge/convert.h"
#include "widgets/controls/icon_label.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/style.h"

#include <QGridLayout>

namespace weft::ui {

using widgets::Role;
using widgets::TextLabel;
using widgets::TextStyle;

HostChecks::HostChecks(QWidget* parent) : QWidget(parent) {
    grid_ = new QGridLayout(this);
    grid_->setContentsMargins(widgets::space::kGroup, widgets::space::kControl,
                              widgets::space::kGroup, widgets::space::kGroup);
    grid_->setHorizontalSpacing(widgets::space::kControl);
    grid_->setVerticalSpacing(widgets::space::kTight);
    grid_->setColumnStretch(2, 1);
}

void HostChecks::clear() {
    while (QLayoutItem* item = grid_->takeAt(0)) {
        delete item->widget();
        delete item;
    }
}

void HostChecks::setChecks(const std::vector<hosts::HostCheck>& checks) {
    QStringList lines;
    for (const hosts::HostCheck& one : checks) {
        lines << toQString(one.name + '\t' + one.text + '\t' + one.hint);
    }
    if (shown_ == lines.join('\n')) {
        return;
    }
    clear();
    shown_ = lines.join('\n');
    int row = 0;
    for (const hosts::HostCheck& one : checks) {
        auto* sign = new widgets::IconLabel(one.good ? "check" : "warning",
                                            one.good ? Role::Success : Role::Warning);
        sign->setAccessibleName(one.good ? tr("is there") : tr("is missing"));
        grid_->addWidget(sign, row, 0, Qt::AlignTop);
        grid_->addWidget(new TextLabel(toQString(one.name), TextStyle::Body), row, 1, Qt::AlignTop);
        const QString found = toQString(one.text);
        auto* text =
            new TextLabel(one.hint.empty() ? found : tr("%1. %2").arg(found, toQString(one.hint)),
                          TextStyle::Body, one.good ? Role::Muted : Role::Text);
        text->setWordWrap(true);
        grid_->addWidget(text, row++, 2, Qt::AlignTop);
    }
}

void HostChecks::setText(const QString& text) {
    if (shown_ == text) {
        return;
    }
    clear();
    shown_ = text;
    auto* words = new TextLabel(text, TextStyle::Body, Role::Muted);
    words->setWordWrap(true);
    grid_->addWidget(words, 0, 0, 1, 3);
}

} // namespace weft::ui
