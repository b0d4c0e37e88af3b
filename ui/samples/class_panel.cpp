// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/samples/class_panel.h"

#include "ui/bridge/convert.h"
#include "widgets/controls/card.h"
#include "widgets/controls/text_label.h"
#include "widgets/views/bar_list.h"

#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextStyle;

// A bar for each of a thousand classes can be looked through; more are a wall.
constexpr std::int64_t kMostBars = 1000;
// From here on the network learns the large classes first and may never see the small ones.
constexpr double kUneven = 10.0;

QString noteOf(const SplitFacts& facts) {
    if (facts.labels == nullptr) {
        return formOf(facts.info) == SampleForm::Tokens
                   ? QObject::tr("Text has no classes: every token is predicted from those before "
                                 "it.")
                   : QObject::tr("These samples have no classes.");
    }
    if (facts.info.classes > kMostBars) {
        return QObject::tr("%1 classes: too many to draw").arg(formatCount(facts.info.classes));
    }
    const auto [least, most] = std::minmax_element(facts.counts.begin(), facts.counts.end());
    const auto none = std::count(facts.counts.begin(), facts.counts.end(), 0);
    if (none > 0) {
        return QObject::tr("%n class(es) without a sample", nullptr, static_cast<int>(none));
    }
    if (static_cast<double>(*most) > kUneven * static_cast<double>(*least)) {
        return QObject::tr("The largest class has %1 times the samples of the smallest.")
            .arg(formatCount(*most / *least));
    }
    return {};
}

} // namespace

ClassPanel::ClassPanel(DataPreview& preview, QWidget* parent) : QWidget(parent), preview_(preview) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    header_ = new widgets::SectionHeader(tr("Classes"));
    column->addWidget(header_);
    auto* room = new QVBoxLayout;
    room->setContentsMargins(8, 8, 8, 12);
    room->setSpacing(widgets::space::kControl);
    bars_ = new widgets::BarList;
    bars_->setObjectName("classBars");
    bars_->setAccessibleName(tr("Samples of each class"));
    room->addWidget(bars_);
    note_ = new widgets::TextLabel({}, TextStyle::Caption, Role::Muted);
    note_->setObjectName("classNote");
    note_->setWordWrap(true);
    note_->setContentsMargins(widgets::space::kTight, 0, widgets::space::kTight, 0);
    room->addWidget(note_);
    column->addLayout(room);
    connect(bars_, &widgets::BarList::itemActivated, this,
            [this](int index) { preview_.setClass(index == preview_.chosenClass() ? -1 : index); });
    connect(&preview_, &DataPreview::changed, this, &ClassPanel::update);
    connect(&preview_, &DataPreview::samplesChanged, this,
            [this] { bars_->setChosen(preview_.chosenClass()); });
    update();
}

void ClassPanel::update() {
    const auto facts = preview_.facts();
    setVisible(facts && facts->problem.isEmpty());
    if (!facts || facts == shown_) {
        return;
    }
    shown_ = facts;
    std::vector<widgets::CountBar> bars;
    if (facts->labels != nullptr && facts->info.classes <= kMostBars) {
        for (std::size_t i = 0; i < facts->counts.size(); ++i) {
            bars.push_back(
                {className(facts->info, static_cast<std::int32_t>(i)), facts->counts[i]});
        }
    }
    header_->setTrailing(bars.empty() ? QString() : formatCount(static_cast<qint64>(bars.size())));
    bars_->setVisible(!bars.empty());
    bars_->setBars(std::move(bars), tr("samples"));
    const QString note = noteOf(*facts);
    note_->setText(note);
    note_->setVisible(!note.isEmpty());
}

} // namespace weft::ui
