// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/checkpoints/weights_view.h"

#include "ui/bridge/convert.h"
#include "ui/pages/table.h"
#include "widgets/controls/messages.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/style.h"

#include <QHeaderView>
#include <QPushButton>
#include <QStackedWidget>
#include <QStandardItemModel>
#include <QTableView>
#include <QVBoxLayout>

namespace weft::ui {
namespace {

enum WeightsViewSheet { WeightsViewMessageSheet, WeightsViewTableSheet };
enum WeightsViewColumn {
    WeightsViewThere,
    WeightsViewTypeThere,
    WeightsViewFate,
    WeightsViewHere,
    WeightsViewTypeHere,
    WeightsViewColumns
};

QStandardItem* weightCell(const QString& text, widgets::TextStyle style) {
    auto* item = new QStandardItem(text);
    item->setEditable(false);
    item->setTextAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    item->setFont(widgets::Theme::current().font(style));
    return item;
}

} // namespace

WeightsView::WeightsView(const Draft& draft, QWidget* parent)
    : Surface(widgets::Role::Surface, parent), draft_(draft) {
    setObjectName("weightsView");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    header_ = new widgets::SectionHeader({});
    start_ = new QPushButton(tr("Start from these weights"));
    start_->setObjectName("startFromWeights");
    start_->setToolTip(tr("Lets the draft begin with these weights; nothing starts yet"));
    widgets::setButtonKind(start_, widgets::ButtonKind::Primary);
    widgets::setCompact(start_);
    connect(start_, &QPushButton::clicked, this, [this] { emit startRequested(file_); });
    header_->addControl(start_);
    column->addWidget(header_);
    column->addWidget(new widgets::Hairline);
    auto* trouble = new widgets::TextLabel({}, widgets::TextStyle::Body, widgets::Role::Warning);
    trouble->setObjectName("weightsTrouble");
    trouble->setWordWrap(true);
    trouble->setMargin(widgets::space::kControl);
    trouble_ = trouble;
    trouble_->hide();
    column->addWidget(trouble_);
    stack_ = new QStackedWidget;
    message_ = new widgets::EmptyState("file");
    stack_->addWidget(message_);
    model_ = new QStandardItemModel(this);
    model_->setColumnCount(WeightsViewColumns);
    table_ = createTable(model_, "weightsTable", tr("Arrays of the file"));
    stack_->addWidget(table_);
    column->addWidget(stack_, 1);
    connect(&draft_, &Draft::changed, this, [this] {
        if (!file_.empty()) {
            look();
        }
    });
}

void WeightsView::open(const std::filesystem::path& file) {
    file_ = file;
    header_->setTitle(toQString(file.filename().string()));
    header_->setSubtitle(tr("reading …"));
    start_->setEnabled(false);
    trouble_->hide();
    message_->setTitle(tr("Reading the weights …"));
    message_->setText(pathText(file));
    stack_->setCurrentIndex(WeightsViewMessageSheet);
    look();
}

void WeightsView::look() {
    const std::optional<compile::RunConfig> run =
        draft_.isValid() ? std::optional(draft_.config()) : std::nullopt;
    job_.start(
        [file = file_, run](const std::stop_token& stop) { return matchWeights(file, run, stop); },
        [this](const WeightsMatch& match) { show(match); });
}

QString WeightsView::summary(const WeightsMatch& match) const {
    QStringList parts = {tr("%n array(s)", nullptr, static_cast<int>(match.arrays)),
                         formatFileSize(match.bytes)};
    if (match.matched) {
        QStringList counts;
        for (const WeightsRow::Fate fate :
             {WeightsRow::Fate::Taken, WeightsRow::Fate::Transposed, WeightsRow::Fate::Joined,
              WeightsRow::Fate::Missing, WeightsRow::Fate::Mismatched,
              WeightsRow::Fate::Unexpected}) {
            if (const int count = match.count(fate); count > 0) {
                counts << tr("%1 %2").arg(formatCount(count), fateText(fate));
            }
        }
        parts << tr("names of %1").arg(match.names) << counts.join(", ");
    }
    return parts.join(" · ");
}

void WeightsView::show(const WeightsMatch& match) {
    if (!match.problem.isEmpty()) {
        header_->setSubtitle(tr("cannot be read"));
        message_->setTitle(tr("These weights cannot be read"));
        message_->setText(match.problem);
        stack_->setCurrentIndex(WeightsViewMessageSheet);
        return;
    }
    model_->setRowCount(0);
    model_->setHorizontalHeaderLabels({tr("array"), tr("type"),
                                       match.matched ? tr("is") : QString(),
                                       match.matched ? tr("in the model") : QString(), QString()});
    for (int i = 0; i < WeightsViewColumns; ++i) {
        model_->horizontalHeaderItem(i)->setTextAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    }
    using widgets::TextStyle;
    for (const WeightsRow& row : match.rows) {
        model_->appendRow(
            {weightCell(row.there, TextStyle::Mono), weightCell(row.type_there, TextStyle::Mono),
             weightCell(fateText(row.fate), TextStyle::Body), weightCell(row.here, TextStyle::Mono),
             weightCell(row.type_here, TextStyle::Mono)});
    }
    fitColumns(table_, WeightsViewThere, EmptyColumns::Hide);
    header_->setSubtitle(summary(match));
    QStringList troubles;
    if (!match.refusal.isEmpty()) {
        troubles << tr("The draft cannot start like that: %1.").arg(match.refusal);
    }
    for (const QString& difference : match.differences) {
        troubles << tr("Other numbers there: %1.").arg(difference);
    }
    trouble_->setText(troubles.join("\n"));
    trouble_->setVisible(!troubles.isEmpty());
    start_->setEnabled(true);
    stack_->setCurrentIndex(WeightsViewTableSheet);
}

} // namespace weft::ui
