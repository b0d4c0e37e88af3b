// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plan/mesh/rules/tensor_tree.h"

#include "ui/bridge/convert.h"
#include "ui/models/tensor_tree_model.h"
#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/delegates/mark_delegate.h"
#include "widgets/look/style.h"

#include <QHeaderView>
#include <QLineEdit>
#include <QScopedValueRollback>
#include <QScrollBar>
#include <QSignalBlocker>
#include <QTreeView>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace weft::ui {
namespace {

constexpr int kTensorTreeFilterWidth = 112;
constexpr int kDialectRoom = 280; // narrower: the settings alone have it; at text size 1
constexpr int kTensorTreeIndent = 12;
constexpr int kTensorTreeCellPadding = 16;
constexpr int kMostName = 240;      // longer ones end in dots before columns go; at text size 1
constexpr double kSpecShare = 0.45; // of the width, where there is not room for both

/// "10.84 M", "812"
QString shortTensorCount(std::int64_t count) {
    constexpr std::pair<double, const char*> kUnits[] = {{1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
    for (const auto& [size, unit] : kUnits) {
        if (static_cast<double>(count) >= size) {
            return QStringLiteral("%1 %2")
                .arg(static_cast<double>(count) / size, 0, 'f', 2)
                .arg(QLatin1String(unit));
        }
    }
    return formatCount(count);
}

} // namespace

TensorTree::TensorTree(QWidget* parent) : PlanPanel(Shows::Step, parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    auto* panel = new widgets::Surface;
    auto* inner = new QVBoxLayout(panel);
    inner->setContentsMargins(0, 0, 0, 0);
    inner->setSpacing(0);
    column->addWidget(panel);
    header_ = new widgets::SectionHeader(tr("Tensors"));
    header_->addControl(createDialects());
    filter_ = new QLineEdit;
    filter_->setObjectName("tensorFilter");
    filter_->setPlaceholderText(tr("Filter"));
    filter_->setAccessibleName(tr("Filter the tensors by name or spec"));
    filter_->setToolTip(tr("Words of name or spec"));
    filter_->setClearButtonEnabled(true);
    filter_->setMaximumWidth(kTensorTreeFilterWidth);
    widgets::setCompact(filter_);
    header_->addControl(filter_);
    inner->addWidget(header_);
    model_ = new TensorTreeModel(this);
    view_ = new QTreeView;
    view_->setObjectName("tensorTree");
    view_->setAccessibleName(tr("Tensors of the plan"));
    view_->setModel(model_);
    view_->setFrameShape(QFrame::NoFrame);
    view_->setIndentation(kTensorTreeIndent);
    view_->setUniformRowHeights(true);
    view_->setTextElideMode(Qt::ElideMiddle); // the end says as much as the beginning
    view_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    view_->header()->setStretchLastSection(false);
    view_->header()->setMinimumSectionSize(24);
    view_->header()->setSectionsMovable(false);
    view_->setItemDelegateForColumn(TensorTreeModel::NameColumn,
                                    new widgets::MarkDelegate(TensorTreeModel::kTouchRole, view_));
    inner->addWidget(view_, 1);
    connect(filter_, &QLineEdit::textChanged, this, [this](const QString& text) {
        const QScopedValueRollback settling(settling_, true);
        model_->setWords(text);
        settle();
    });
    connect(view_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& current) {
                const QString name = model_->tensorOf(current);
                if (!settling_ && !name.isEmpty() && name != chosen_) {
                    chosen_ = name;
                    emit tensorChosen(name);
                }
            });
    connect(view_, &QTreeView::expanded, this, [this](const QModelIndex& group) {
        if (!settling_) {
            open_[group.data(TensorTreeModel::kPathRole).toString()] = true;
        }
    });
    connect(view_, &QTreeView::collapsed, this, [this](const QModelIndex& group) {
        if (!settling_) {
            open_[group.data(TensorTreeModel::kPathRole).toString()] = false;
        }
    });
    measure();
}

QWidget* TensorTree::createDialects() {
    dialect_ = new widgets::SegmentedControl;
    dialect_->setObjectName("specDialect");
    dialect_->setAccessibleName(tr("How specs are written"));
    dialect_->addSegment(tr("JAX"), tr("What splits every dimension of a tensor: P('data', None)"));
    dialect_->addSegment(tr("DTensor"), tr("What every axis of the mesh does to a tensor, as in "
                                           "PyTorch: [Shard(0), Replicate()]"));
    dialect_->setCompact(true);
    dialect_->hide(); // until there is room beside the filter
    connect(dialect_, &widgets::SegmentedControl::currentIndexChanged, this,
            [this](int index) { emit dialectChosen(static_cast<sharding::SpecDialect>(index)); });
    return dialect_;
}

void TensorTree::setDialect(sharding::SpecDialect dialect) {
    {
        const QSignalBlocker quiet(dialect_);
        dialect_->setCurrentIndex(static_cast<int>(dialect));
    }
    if (dialect == model_->dialect()) {
        return;
    }
    const QScopedValueRollback settling(settling_, true);
    model_->setDialect(dialect);
    settle();
}

void TensorTree::planChanged(const ShownPlan& before) {
    const QString chosen_before = chosen_;
    const bool was_batch = before.digest && !chosen_.isEmpty() &&
                           before.digest->plan->find_slot(chosen_.toStdString()) == nullptr;
    {
        const QScopedValueRollback settling(settling_, true);
        model_->setPlan(digest_ ? digest_->plan : nullptr);
        // The batch comes back with the plan's programs.
        const bool here = digest_ && (plan::find_tensor(*digest_->plan, chosen_.toStdString()) ||
                                      (was_batch && digest_->plan->programs.empty()));
        chosen_ = here ? chosen_ : model_->firstChoice();
        settle();
    }
    if (chosen_ != chosen_before) {
        emit tensorChosen(chosen_);
    }
}

void TensorTree::staleChanged() {
    view_->setEnabled(!stale_);
}

void TensorTree::setMoment(const StepMoment& moment) {
    QHash<QString, TensorTreeModel::Touch> touched;
    for (const TensorTouch& touch : moment.touches) {
        TensorTreeModel::Touch& own = touched[touch.tensor];
        own = touch.written ? TensorTreeModel::Written : std::max(own, TensorTreeModel::Read);
    }
    model_->setTouched(touched);
}

void TensorTree::choose(const QString& name) {
    const QScopedValueRollback settling(settling_, true);
    if (digest_ && plan::find_tensor(*digest_->plan, name.toStdString())) {
        chosen_ = name;
        select(name);
    }
}

void TensorTree::focusFilter() {
    filter_->setFocus(Qt::ShortcutFocusReason);
    filter_->selectAll();
}

void TensorTree::settle() {
    openGroups({});
    measure();
    select(chosen_);
    describe();
}

// Open are the groups of the first level, their first layer, and all that a filter leaves.
void TensorTree::openGroups(const QModelIndex& parent) {
    for (int row = 0; row < model_->rowCount(parent); ++row) {
        const QModelIndex group = model_->index(row, 0, parent);
        if (model_->rowCount(group) == 0) {
            continue;
        }
        const bool usual = model_->isFiltered() || !parent.isValid() || row == 0;
        const QString path = group.data(TensorTreeModel::kPathRole).toString();
        view_->setExpanded(group, model_->isFiltered() ? usual : open_.value(path, usual));
        openGroups(group);
    }
}

void TensorTree::select(const QString& name) {
    const QModelIndex index = model_->indexOf(name);
    if (!index.isValid()) {
        view_->clearSelection();
        return;
    }
    view_->setCurrentIndex(index);
    if (view_->isExpanded(index.parent()) || !index.parent().isValid()) {
        view_->scrollTo(index);
    }
}

void TensorTree::describe() {
    if (!digest_) {
        header_->setSubtitle({});
        return;
    }
    const QString all =
        tr("%1 · %2 parameters")
            .arg(formatCount(model_->tensorCount()), shortTensorCount(digest_->plan->parameters));
    header_->setSubtitle(model_->isFiltered()
                             ? tr("%1 of %2").arg(model_->shownCount()).arg(model_->tensorCount())
                             : all);
}

void TensorTree::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    dialect_->setVisible(width() >= kDialectRoom * widgets::Theme::current().fontScale());
    arrangeColumns();
}

void TensorTree::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        measure();
    }
}

void TensorTree::measure() {
    const QFont font = widgets::Theme::current().font(widgets::TextStyle::Caption);
    needs_.clear();
    for (int column = 0; column < TensorTreeModel::ColumnCount; ++column) {
        const QString title =
            model_->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
        needs_.push_back(std::ceil(widgets::textWidth(font, title)) + kTensorTreeCellPadding);
    }
    measure({}, 1);
    arrangeColumns();
}

void TensorTree::measure(const QModelIndex& parent, int depth) {
    const QFont font = widgets::Theme::current().font(widgets::TextStyle::MonoSmall);
    const double letter = widgets::textWidth(font, QStringLiteral("0"));
    for (int row = 0; row < model_->rowCount(parent); ++row) {
        const QModelIndex first = model_->index(row, 0, parent);
        for (int column = 0; column < TensorTreeModel::ColumnCount; ++column) {
            const QString text = first.siblingAtColumn(column).data().toString();
            const int before =
                column == TensorTreeModel::NameColumn ? depth * kTensorTreeIndent : 0;
            double& need = needs_[static_cast<std::size_t>(column)];
            need = std::max(need, std::ceil(static_cast<double>(text.size()) * letter) +
                                      kTensorTreeCellPadding + before);
        }
        measure(first, depth + 1);
    }
}

// The name takes the room that is left; the columns that matter least go before it is cut. The
// tiles say what they say, too.
void TensorTree::arrangeColumns() {
    const double most_name = kMostName * widgets::Theme::current().fontScale();
    double left = width() - view_->verticalScrollBar()->sizeHint().width() -
                  std::min(needs_[TensorTreeModel::NameColumn], most_name);
    const auto place = [&](TensorTreeModel::Column column, double wanted) {
        left -= wanted;
        view_->header()->setSectionResizeMode(column, QHeaderView::Fixed);
        view_->setColumnWidth(column, static_cast<int>(wanted));
    };
    place(TensorTreeModel::SpecColumn,
          std::min(needs_[TensorTreeModel::SpecColumn], std::max(left, kSpecShare * width())));
    for (const auto column : {TensorTreeModel::BytesColumn, TensorTreeModel::ShapeColumn,
                              TensorTreeModel::CopiesColumn}) {
        place(column, needs_[column]);
        view_->setColumnHidden(column, left < 0);
    }
    view_->header()->setSectionResizeMode(TensorTreeModel::NameColumn, QHeaderView::Stretch);
}

} // namespace weft::ui
