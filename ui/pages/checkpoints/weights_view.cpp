// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/checkpoints/weights_view.h"

#include "core/base/error.h"
#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"
#include "ui/pages/table.h"
#include "widgets/controls/messages.h"
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

QStandardItem* weightCell(const QString& text, bool number) {
    auto* item = new QStandardItem(text);
    item->setEditable(false);
    item->setTextAlignment((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    item->setFont(widgets::Theme::current().font(widgets::TextStyle::Mono));
    return item;
}

} // namespace

WeightsView::WeightsView(QWidget* parent) : Surface(widgets::Role::Surface, parent) {
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
    stack_ = new QStackedWidget;
    message_ = new widgets::EmptyState("file");
    stack_->addWidget(message_);
    model_ = new QStandardItemModel(this);
    QTableView* table = createTable(model_, "weightsTable", tr("Arrays of the file"));
    stack_->addWidget(table);
    column->addWidget(stack_, 1);
    model_->setColumnCount(4);
    table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    table->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
}

void WeightsView::open(const std::filesystem::path& file) {
    file_ = file;
    header_->setTitle(toQString(file.filename().string()));
    header_->setSubtitle(tr("reading …"));
    start_->setEnabled(false);
    message_->setTitle(tr("Reading the file …"));
    message_->setText(pathText(file));
    stack_->setCurrentIndex(WeightsViewMessageSheet);
    struct Outcome {
        checkpoint::SafetensorsFile contents;
        QString problem;
    };
    runInBackground(
        this,
        [file]() -> Outcome {
            try {
                return {checkpoint::read_safetensors(file), {}};
            } catch (const Error& error) {
                return {{}, toQString(error.message())};
            }
        },
        [this, file](const Outcome& outcome) {
            if (file == file_) {
                show(outcome.contents, outcome.problem);
            }
        });
}

void WeightsView::show(const checkpoint::SafetensorsFile& contents, const QString& problem) {
    if (!problem.isEmpty()) {
        header_->setSubtitle(tr("cannot be read"));
        message_->setTitle(tr("This file cannot be read"));
        message_->setText(problem);
        return;
    }
    model_->setRowCount(0);
    model_->setHorizontalHeaderLabels({tr("array"), tr("type"), tr("shape"), tr("size")});
    model_->horizontalHeaderItem(0)->setTextAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    for (const checkpoint::SafetensorsEntry& entry : contents.tensors) {
        model_->appendRow({weightCell(toQString(entry.name), false),
                           weightCell(toQString(entry.stored), false),
                           weightCell(toQString(entry.shape), false),
                           weightCell(formatFileSize(entry.bytes), true)});
    }
    header_->setSubtitle(tr("safetensors · %1 arrays · %2")
                             .arg(contents.tensors.size())
                             .arg(formatFileSize(contents.bytes)));
    start_->setEnabled(true);
    stack_->setCurrentIndex(WeightsViewTableSheet);
}

} // namespace weft::ui
