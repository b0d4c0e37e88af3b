// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/samples/length_panel.h"

#include "ui/bridge/convert.h"
#include "widgets/controls/card.h"
#include "widgets/controls/text_label.h"
#include "widgets/views/bar_list.h"

#include <QVBoxLayout>

namespace weft::ui {

using widgets::Role;
using widgets::TextStyle;

LengthPanel::LengthPanel(DataPreview& preview, QWidget* parent)
    : QWidget(parent), preview_(preview) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    header_ = new widgets::SectionHeader(tr("Lengths"));
    column->addWidget(header_);
    auto* room = new QVBoxLayout;
    room->setContentsMargins(8, 8, 8, 12);
    room->setSpacing(widgets::space::kControl);
    bars_ = new widgets::BarList;
    bars_->setObjectName("lengthBars");
    bars_->setAccessibleName(tr("Texts by their length"));
    bars_->setChoosable(false);
    room->addWidget(bars_);
    note_ = new widgets::TextLabel({}, TextStyle::Caption, Role::Muted);
    note_->setObjectName("lengthNote");
    note_->setProperty("isData", true); // sentences of the engine
    note_->setWordWrap(true);
    note_->setContentsMargins(widgets::space::kTight, 0, widgets::space::kTight, 0);
    note_->setToolTip(tr("Of the files, before a share is taken out of them for validation"));
    room->addWidget(note_);
    column->addLayout(room);
    connect(&preview_, &DataPreview::changed, this, &LengthPanel::update);
    connect(&preview_, &DataPreview::lengthsChanged, this, &LengthPanel::update);
    update();
}

void LengthPanel::update() {
    const auto lengths = preview_.lengths();
    setVisible(lengths && !lengths->each.empty());
    if (lengths == shown_ || !lengths) {
        return;
    }
    shown_ = lengths;
    std::vector<widgets::CountBar> bars;
    int within = 0; // the context ends behind so many
    for (const data::LengthRange& range : data::length_ranges(*lengths)) {
        bars.push_back({range.first == range.last
                            ? formatCount(range.first)
                            : tr("%1 to %2").arg(formatCount(range.first), formatCount(range.last)),
                        range.count});
        within += range.last <= lengths->context ? 1 : 0;
    }
    header_->setTrailing(toQString(lengths->unit));
    bars_->setBars(std::move(bars), toQString(lengths->things));
    bars_->setMark(within, tr("context %1").arg(formatCount(lengths->context)));
    QStringList findings;
    for (const std::string& finding : data::length_findings(*lengths)) {
        findings << toQString(finding);
    }
    note_->setText(findings.join(QLatin1Char(' ')));
}

} // namespace weft::ui
