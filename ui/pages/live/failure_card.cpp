// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/live/failure_card.h"

#include "ui/bridge/convert.h"
#include "widgets/controls/arranging.h"
#include "widgets/controls/flow_layout.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/icon.h"
#include "widgets/look/painting.h"
#include "widgets/look/style.h"

#include <QGridLayout>
#include <QPainter>
#include <QPushButton>

#include <algorithm>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextLabel;
using widgets::TextStyle;

constexpr std::size_t kMostWays = 3;
constexpr double kFailureCardMark = 4; // width of the bar at the left
constexpr int kFailureCardLeft = 44;   // room for the bar and the sign

} // namespace

FailureCard::FailureCard(RunModel& run, QWidget* parent) : QWidget(parent), run_(run) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(kFailureCardLeft, widgets::space::kGroup, widgets::space::kMargin,
                               widgets::space::kGroup);
    column->setSpacing(widgets::space::kControl);
    title_ = new TextLabel({}, TextStyle::Heading, Role::Error);
    title_->setObjectName("failureTitle");
    title_->setWordWrap(true);
    column->addWidget(title_);
    message_ = new TextLabel;
    message_->setObjectName("failureMessage");
    message_->setWordWrap(true);
    message_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    column->addWidget(message_);
    auto* facts = new QGridLayout;
    facts->setHorizontalSpacing(widgets::space::kGroup);
    facts->setVerticalSpacing(2);
    facts->setColumnStretch(1, 1);
    where_ = addFact(facts, tr("Where"), "failureWhere");
    kept_ = addFact(facts, tr("Kept"), "failureKept");
    hint_ = addFact(facts, tr("Hint"), "failureHint");
    auto* ways = new QWidget;
    ways_ = new widgets::FlowLayout(ways);
    ways_->setSpacing(widgets::space::kControl);
    ways_->setContentsMargins(0, widgets::space::kTight, 0, 0);
    const int row = facts->rowCount();
    ways_name_ = new TextLabel(tr("Ways on"), TextStyle::Caption, Role::Muted);
    ways_name_->setContentsMargins(0, widgets::space::kGroup, 0, 0); // beside the first line
    facts->addWidget(ways_name_, row, 0, Qt::AlignTop);
    facts->addWidget(ways, row, 1);
    column->addLayout(facts);
    hide();
}

FailureCard::Fact FailureCard::addFact(QGridLayout* facts, const QString& name,
                                       const char* object_name) {
    const int row = facts->rowCount();
    Fact fact{new TextLabel(name, TextStyle::Caption, Role::Muted),
              new TextLabel({}, TextStyle::Caption)};
    fact.text->setObjectName(object_name);
    fact.text->setWordWrap(true);
    fact.text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    facts->addWidget(fact.name, row, 0, Qt::AlignTop);
    facts->addWidget(fact.text, row, 1);
    return fact;
}

void FailureCard::Fact::show(const QString& words) const {
    text->setText(words);
    text->setVisible(!words.isEmpty());
    name->setVisible(!words.isEmpty());
}

void FailureCard::showFailure(bool training) {
    widgets::clearLayout(*ways_);
    if (!run_.failure()) {
        hide();
        return;
    }
    const train::ErrorEvent& error = *run_.failure();
    title_->setText(run_.step() > 0
                        ? tr("%1 failed after step %2").arg(run_.name(), formatCount(run_.step()))
                        : tr("%1 failed before its first step").arg(run_.name()));
    message_->setText(toQString(error.message));
    where_.show(toQString(error.where));
    const auto& saved = run_.checkpoints();
    const auto newest = std::max_element(
        saved.begin(), saved.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
    kept_.show(newest != saved.end() ? tr("Last good checkpoint: step %1. The curves are kept.")
                                           .arg(formatCount(newest->step))
               : run_.origin()
                   ? tr("The checkpoint of step %1 that it began with. The curves are kept.")
                         .arg(formatCount(run_.origin()->step))
                   : tr("No checkpoint was saved yet. The curves are kept."));
    // The hint of a divergence says what is kept: here once is enough.
    hint_.show(error.kind == "diverged" ? QString() : toQString(error.hint));
    // The same again would run out of memory, or diverge, again.
    const bool resumable =
        newest != saved.end() && error.kind != "memory" && error.kind != "diverged";
    ways_name_->setVisible(resumable || !error.ways_on.empty());
    if (resumable) {
        auto* button = new QPushButton(tr("Resume from step %1").arg(formatCount(newest->step)));
        button->setObjectName("failureResume");
        button->setToolTip(training ? tr("Stop what is training first")
                                    : tr("With nothing changed"));
        button->setEnabled(!training);
        widgets::setButtonKind(button, widgets::ButtonKind::Primary);
        connect(button, &QPushButton::clicked, this, &FailureCard::resumeRequested);
        ways_->addWidget(button);
    }
    const std::size_t count = std::min(error.ways_on.size(), kMostWays);
    for (std::size_t i = 0; i < count; ++i) {
        const train::WayOn& way = error.ways_on[i];
        auto* button = new QPushButton(toQString(way.label));
        button->setObjectName(QString("wayOn%1").arg(i));
        QStringList changes;
        for (const std::string& change : way.overrides) {
            changes << toQString(change);
        }
        button->setToolTip(training ? tr("Stop what is training first")
                                    : tr("A new run with %1").arg(changes.join(", ")));
        button->setEnabled(!training);
        widgets::setButtonKind(button, i == 0 && !resumable ? widgets::ButtonKind::Primary
                                                            : widgets::ButtonKind::Normal);
        connect(button, &QPushButton::clicked, this, [this, way] { emit wayChosen(way); });
        ways_->addWidget(button);
    }
    if (newest != saved.end()) {
        auto* button = new QPushButton(tr("Show the checkpoint"));
        button->setObjectName("failureCheckpoint");
        widgets::setButtonKind(button, widgets::ButtonKind::Flat);
        connect(button, &QPushButton::clicked, this,
                [this, step = newest->step] { emit checkpointRequested(step); });
        ways_->addWidget(button);
    }
    QWidget::show();
}

void FailureCard::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const widgets::Theme& theme = widgets::Theme::current();
    painter.fillRect(rect(), theme.color(Role::ErrorTint));
    painter.fillRect(QRectF(0, 0, kFailureCardMark, height()), theme.color(Role::Error));
    widgets::paintIcon(
        painter,
        QRectF(kFailureCardLeft - 24, title_->y() + 2, widgets::size::kIcon, widgets::size::kIcon),
        "error", theme.color(Role::Error));
    widgets::paintHairline(painter, QPointF(0, height() - 1), QPointF(width(), height() - 1),
                           theme.color(Role::Error));
}

} // namespace weft::ui
