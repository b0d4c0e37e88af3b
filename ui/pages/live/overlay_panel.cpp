// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/live/overlay_panel.h"

#include "ui/pages/table.h"
#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/delegates/run_row_delegate.h"
#include "widgets/controls/messages.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListView>
#include <QMenu>
#include <QPainter>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

constexpr int kOverlayPanelColors = 8;
constexpr int kRunsWithoutFilter = 8;
constexpr int kOverlayPanelMostLines = 5; // that the panel asks room for
constexpr int kLeastBody = 72;            // at text size 1

QIcon lineSwatch(int color) {
    QPixmap pixmap(32, 32);
    pixmap.setDevicePixelRatio(2.0);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    painter.fillRect(QRectF(1, 5, 14, 6), widgets::Theme::current().series(color));
    return pixmap;
}

} // namespace

OverlayPanel::OverlayPanel(CurveRuns& curves, RunIndex& index, QWidget* parent)
    : QWidget(parent), curves_(curves) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    header_ = new widgets::SectionHeader(tr("Runs in the charts"));
    tab_ = new widgets::SegmentedControl({tr("Runs"), tr("Compare")});
    tab_->setObjectName("overlayTab");
    tab_->setAccessibleName(tr("Show runs or compare them"));
    tab_->setCompact(true);
    header_->addControl(tab_);
    column->addWidget(header_);

    filter_ = new QLineEdit;
    filter_->setObjectName("overlayFilter");
    filter_->setPlaceholderText(tr("Find a run"));
    filter_->setAccessibleName(tr("Find a run"));
    filter_->setClearButtonEnabled(true);
    widgets::setCompact(filter_);
    filter_row_ = new widgets::Surface;
    auto* filter_column = new QVBoxLayout(filter_row_);
    filter_column->setContentsMargins(12, 6, 12, 6);
    filter_column->addWidget(filter_);
    column->addWidget(filter_row_);

    model_ = new OverlayModel(curves_, index, this);
    list_ = new QListView;
    list_->setObjectName("overlayRuns");
    list_->setAccessibleName(tr("Runs in the charts"));
    list_->setFrameShape(QFrame::NoFrame);
    list_->setMouseTracking(true);
    list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    list_->setUniformItemSizes(true);
    list_->setModel(model_);
    auto* delegate = new widgets::RunRowDelegate(list_);
    list_->setItemDelegate(delegate);
    list_->installEventFilter(this);
    list_->setContextMenuPolicy(Qt::CustomContextMenu);
    column->addWidget(list_, 1);

    differences_ = new OverlayCompareModel(curves_, this);
    table_ = createTable(differences_, "overlayCompare", tr("Settings that differ"));
    table_->setHorizontalScrollBarPolicy(Qt::ScrollBarAsNeeded); // as many columns as runs
    table_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    column->addWidget(table_, 1);
    alike_ = new widgets::EmptyState(
        {}, {}, tr("Show two runs whose settings differ to see the differences side by side."));
    column->addWidget(alike_, 1);

    connect(delegate, &widgets::RunRowDelegate::colorClicked, this, &OverlayPanel::chooseColor);
    connect(list_, &QListView::customContextMenuRequested, this, [this](const QPoint& at) {
        chooseColor(list_->indexAt(at), list_->viewport()->mapToGlobal(at));
    });
    connect(filter_, &QLineEdit::textChanged, model_, &OverlayModel::setFilter);
    connect(tab_, &widgets::SegmentedControl::currentIndexChanged, this, &OverlayPanel::showTab);
    connect(differences_, &QAbstractItemModel::modelReset, this, &OverlayPanel::showTab);
    connect(model_, &QAbstractItemModel::modelReset, this, &OverlayPanel::showTab);
    showTab();
}

void OverlayPanel::showTab() {
    const bool runs = tab_->currentIndex() == 0;
    const bool differ = differences_->rowCount() > 0;
    filter_row_->setVisible(runs && model_->total() > kRunsWithoutFilter);
    list_->setVisible(runs);
    table_->setVisible(!runs && differ);
    alike_->setVisible(!runs && !differ);
    if (table_->isVisible()) {
        table_->resizeColumnsToContents();
    }
    emit fittingHeightChanged();
}

// The same for both tabs, so that nothing moves from one to the other.
int OverlayPanel::fittingHeight() const {
    const int runs =
        std::min(model_->rowCount(), kOverlayPanelMostLines) * list_->sizeHintForRow(0);
    const int differences = std::min(differences_->rowCount() + 1, kOverlayPanelMostLines) *
                            table_->verticalHeader()->defaultSectionSize();
    const auto least = static_cast<int>(kLeastBody * widgets::Theme::current().fontScale());
    const int filter = model_->total() > kRunsWithoutFilter ? filter_row_->sizeHint().height() : 0;
    return header_->minimumHeight() + filter + std::max({runs, differences, least});
}

void OverlayPanel::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        emit fittingHeightChanged();
    }
}

void OverlayPanel::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    emit fittingHeightChanged();
}

void OverlayPanel::chooseColor(const QModelIndex& index, const QPoint& global) {
    const std::filesystem::path folder = model_->folderOf(index);
    const CurveRun* run = index.isValid() ? curves_.find(folder) : nullptr;
    if (run == nullptr) {
        return; // not in the charts: there is no line to colour
    }
    auto* menu = new QMenu(this);
    menu->setObjectName("runColors");
    menu->setAttribute(Qt::WA_DeleteOnClose);
    for (int color = 0; color < kOverlayPanelColors; ++color) {
        QAction* action =
            menu->addAction(lineSwatch(color), tr("Colour %1").arg(color + 1), this,
                            [this, folder, color] { curves_.setColor(folder, color); });
        action->setCheckable(true);
        action->setChecked(run->color == color);
    }
    menu->popup(global);
}

// Enter does what a click on the eye does; the Menu key comes as a context menu.
bool OverlayPanel::eventFilter(QObject* watched, QEvent* event) {
    if (watched == list_ && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        const QModelIndex at = list_->currentIndex();
        if ((key == Qt::Key_Return || key == Qt::Key_Enter) && at.isValid()) {
            const bool shown = at.data(Qt::CheckStateRole).toInt() == Qt::Checked;
            model_->setData(at, shown ? Qt::Unchecked : Qt::Checked, Qt::CheckStateRole);
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

} // namespace weft::ui
