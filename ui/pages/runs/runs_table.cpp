// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/runs/runs_table.h"

#include "core/compare/run_value.h"
#include "ui/bridge/convert.h"
#include "ui/pages/runs/run_name_delegate.h"
#include "ui/pages/table.h"
#include "widgets/controls/delegates/tag_delegate.h"
#include "widgets/curves/sparkline.h"
#include "widgets/look/menu_text.h"
#include "widgets/look/style.h"

#include <QEvent>
#include <QHeaderView>
#include <QInputDialog>
#include <QLineEdit>
#include <QMenu>
#include <QScopedValueRollback>
#include <QSettings>

#include <algorithm>
#include <limits>

namespace weft::ui {
namespace {

QSettings table_settings(const std::filesystem::path& path) {
    return QSettings(pathText(path), QSettings::IniFormat);
}

/// Of a name the end counts as well, of notes the beginning. Qt's own editor has no frame and
/// grows over the cells beside it.
class NotesDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    QWidget* createEditor(QWidget* parent, const QStyleOptionViewItem&,
                          const QModelIndex&) const override {
        return new QLineEdit(parent);
    }

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
        QStyledItemDelegate::initStyleOption(option, index);
        option->textElideMode = Qt::ElideRight;
    }
};

QString width_key(const RunColumn& column) {
    return "width/" + column.id().replace('/', '|');
}

} // namespace

RunsTable::RunsTable(RunTableModel& model, RunTableFilter& filtered, std::filesystem::path settings,
                     QWidget* parent)
    : QTableView(parent), model_(model), filtered_(filtered), settings_(std::move(settings)),
      curves_(new widgets::SparklineDelegate(RunTableModel::CurveRole, this)),
      tags_(new widgets::TagDelegate(RunTableModel::TagsRole, this)),
      notes_(new NotesDelegate(this)), names_(new RunNameDelegate(this)) {
    setObjectName("runTable");
    setAccessibleName(tr("Runs"));
    setModel(&filtered_);
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setSelectionMode(QAbstractItemView::ExtendedSelection);
    setEditTriggers(QAbstractItemView::DoubleClicked | QAbstractItemView::EditKeyPressed);
    setShowGrid(false);
    setFrameShape(QFrame::NoFrame);
    setWordWrap(false);
    setTextElideMode(Qt::ElideMiddle);
    setTabKeyNavigation(false); // Tab leaves the table
    setSortingEnabled(true);
    verticalHeader()->hide();
    scaleRows(this, widgets::size::kRowHeight);
    horizontalHeader()->setSectionsMovable(true);
    horizontalHeader()->setHighlightSections(false);
    horizontalHeader()->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(horizontalHeader(), &QWidget::customContextMenuRequested, this,
            [this](const QPoint& at) { showColumnMenu(horizontalHeader()->mapToGlobal(at)); });
    connect(horizontalHeader(), &QHeaderView::sectionResized, this, [this] {
        if (!fitting_ && !sized_ && !narrow_) {
            sized_ = true;
            fitColumns(); // none gives way any longer
        }
    });
    connect(&model_, &QAbstractItemModel::rowsInserted, this, &RunsTable::measureColumns);
    connect(&model_, &QAbstractItemModel::rowsRemoved, this, &RunsTable::measureColumns);
    connect(&model_, &QAbstractItemModel::dataChanged, this, &RunsTable::measureColumns);
    connect(&model_, &QAbstractItemModel::headerDataChanged, this, &RunsTable::measureColumns);
    connect(names_, &RunNameDelegate::eyeClicked, this, &RunsTable::eyeClicked);
    restoreColumns();
}

RunsTable::~RunsTable() {
    saveColumns();
}

bool RunsTable::isEditing() const {
    return state() == QAbstractItemView::EditingState;
}

void RunsTable::showColumnMenu(const QPoint& at) {
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    fillColumnMenu(*menu);
    menu->popup(at);
}

std::vector<RunColumn> RunsTable::visualColumns() const {
    std::vector<RunColumn> columns;
    const QHeaderView* header = horizontalHeader();
    for (int visual = 0; visual < header->count(); ++visual) {
        columns.push_back(model_.columns()[static_cast<std::size_t>(header->logicalIndex(visual))]);
    }
    return columns;
}

void RunsTable::fillColumnMenu(QMenu& menu) {
    const std::vector<RunColumn> shown = visualColumns();
    const auto has = [&](const RunColumn& column) {
        return std::find(shown.begin(), shown.end(), column) != shown.end();
    };
    std::vector<RunColumn> offered = RunColumn::facts();
    for (const RunColumn& column : shown) {
        if (column.kind == RunColumn::Kind::Metric || column.kind == RunColumn::Kind::Setting) {
            offered.push_back(column);
        }
    }
    for (const RunColumn& column : offered) {
        QString title = column.title();
        title[0] = title[0].toUpper();
        QAction* entry = menu.addAction(widgets::menuText(title));
        entry->setCheckable(true);
        entry->setChecked(has(column));
        entry->setEnabled(column.kind != RunColumn::Kind::Name);
        connect(entry, &QAction::triggered, this, [this, column, shown](bool on) {
            std::vector<RunColumn> columns = shown;
            if (on) {
                columns.push_back(column);
            } else {
                std::erase(columns, column);
            }
            changeColumns(columns);
        });
    }
    menu.addSeparator();
    connect(menu.addAction(tr("Choose columns…")), &QAction::triggered, this,
            &RunsTable::chooserRequested);
    addMetricMenu(*menu.addMenu(tr("Add a metric")));
    connect(menu.addAction(tr("Columns as at first")), &QAction::triggered, this,
            &RunsTable::resetColumns);
}

void RunsTable::addMetricMenu(QMenu& menu) {
    menu.setObjectName("metricMenu");
    const auto add = [this](RunColumn column) {
        std::vector<RunColumn> columns = visualColumns();
        if (std::find(columns.begin(), columns.end(), column) == columns.end()) {
            columns.push_back(std::move(column));
            changeColumns(columns);
        }
    };
    using Value = RunColumn::Value;
    for (const std::string& metric : model_.metricNames()) {
        QMenu* one = menu.addMenu(widgets::menuText(toQString(metric)));
        connect(one->addAction(tr("Best")), &QAction::triggered, this, [add, metric] {
            add({RunColumn::Kind::Metric, metric, Value::Best, 0});
        });
        connect(one->addAction(tr("Last")), &QAction::triggered, this, [add, metric] {
            add({RunColumn::Kind::Metric, metric, Value::Last, 0});
        });
        connect(one->addAction(tr("At step…")), &QAction::triggered, this, [this, add, metric] {
            auto* dialog = new QInputDialog(this);
            dialog->setAttribute(Qt::WA_DeleteOnClose);
            dialog->setInputMode(QInputDialog::IntInput);
            dialog->setIntRange(0, std::numeric_limits<int>::max());
            dialog->setWindowTitle(tr("At a step"));
            dialog->setLabelText(tr("The value at the last step that is not after:"));
            connect(dialog, &QInputDialog::intValueSelected, this, [add, metric](int step) {
                add({RunColumn::Kind::Metric, metric, Value::AtStep, step});
            });
            dialog->open();
        });
    }
    if (menu.isEmpty()) {
        menu.addAction(tr("No run has a metric yet"))->setEnabled(false);
    }
}

void RunsTable::resetColumns() {
    sized_ = false;
    changeColumns(RunColumn::usual());
}

void RunsTable::changeColumns(const std::vector<RunColumn>& columns) {
    saveColumns();
    std::vector<std::filesystem::path> chosen;
    for (const QModelIndex& index : selectionModel()->selectedRows()) {
        chosen.push_back(filtered_.run(index.row()).folder);
    }
    QStringList ids;
    for (const RunColumn& column : columns) {
        ids << column.id();
    }
    QSettings settings = table_settings(settings_);
    settings.setValue("columns", ids);
    restoreColumns();
    for (const std::filesystem::path& folder : chosen) {
        const QModelIndex index = filtered_.mapFromSource(model_.index(model_.rowOf(folder), 0));
        selectionModel()->select(index, QItemSelectionModel::Select | QItemSelectionModel::Rows);
    }
}

void RunsTable::restoreColumns() {
    const QSettings settings = table_settings(settings_);
    std::vector<RunColumn> columns;
    for (const QString& id : settings.value("columns").toStringList()) {
        if (const auto column = RunColumn::fromId(id)) {
            columns.push_back(*column);
        }
    }
    const RunColumn name;
    if (std::find(columns.begin(), columns.end(), name) == columns.end()) {
        columns = RunColumn::usual();
    }
    sized_ = settings.value("sized").toBool();
    const QScopedValueRollback fitting(fitting_, true);
    model_.setColumns(columns);
    measureColumns();
    QHeaderView* header = horizontalHeader();
    int sorted = -1;
    for (int i = 0; i < static_cast<int>(columns.size()); ++i) {
        const RunColumn& column = columns[static_cast<std::size_t>(i)];
        header->moveSection(header->visualIndex(i), i);
        if (sized_) {
            const int wanted = needs_[static_cast<std::size_t>(i)].wanted;
            header->resizeSection(i, settings.value(width_key(column), wanted).toInt());
        }
        setItemDelegateForColumn(i, nullptr);
        if (column.kind == RunColumn::Kind::Name) {
            setItemDelegateForColumn(i, names_);
        } else if (column.kind == RunColumn::Kind::Curve) {
            setItemDelegateForColumn(i, curves_);
        } else if (column.kind == RunColumn::Kind::Tags) {
            setItemDelegateForColumn(i, tags_);
        } else if (column.kind == RunColumn::Kind::Notes) {
            setItemDelegateForColumn(i, notes_);
        }
        sorted = settings.value("sort").toString() == column.id() ? i : sorted;
    }
    const auto when = std::find_if(columns.begin(), columns.end(), [](const RunColumn& column) {
        return column.kind == RunColumn::Kind::When;
    });
    if (sorted < 0 && when != columns.end()) {
        sortByColumn(static_cast<int>(when - columns.begin()), Qt::DescendingOrder);
    } else {
        sortByColumn(std::max(sorted, 0), settings.value("descending").toBool()
                                              ? Qt::DescendingOrder
                                              : Qt::AscendingOrder);
    }
}

bool RunsTable::isLeftOut(const RunColumn& column) const {
    using Kind = RunColumn::Kind;
    return column.kind != Kind::Name && column.kind != Kind::Curve && column.kind != Kind::Best &&
           column.kind != Kind::Metric && column.kind != Kind::Setting;
}

void RunsTable::setNarrow(bool narrow) {
    if (narrow == narrow_) {
        return;
    }
    saveColumns();
    narrow_ = narrow;
    restoreWidths();
    fitColumns();
}

void RunsTable::restoreWidths() {
    const QSettings settings = table_settings(settings_);
    const QScopedValueRollback fitting(fitting_, true);
    for (int i = 0; !narrow_ && i < model_.columnCount(); ++i) {
        setColumnHidden(i, false);
        const QString key = width_key(model_.columns()[static_cast<std::size_t>(i)]);
        if (sized_ && settings.contains(key)) {
            horizontalHeader()->resizeSection(i, settings.value(key).toInt());
        }
    }
}

std::string RunsTable::csv() const {
    const std::vector<RunColumn> columns = visualColumns();
    std::string out;
    const auto cell = [&out](std::size_t at, const QString& text) {
        out += (at == 0 ? "" : ",") + compare::csv_cell(text.toStdString());
    };
    for (std::size_t i = 0; i < columns.size(); ++i) {
        cell(i, columns[i].csvName());
    }
    out += "\r\n";
    for (int row = 0; row < filtered_.rowCount(); ++row) {
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const auto& all = model_.columns();
            const auto logical =
                static_cast<int>(std::find(all.begin(), all.end(), columns[i]) - all.begin());
            const QModelIndex index = filtered_.index(row, logical);
            const QVariant number = index.data(RunTableModel::SortRole);
            const bool notes = columns[i].kind == RunColumn::Kind::Notes;
            cell(i, number.typeId() == QMetaType::Double
                        ? QString::number(number.toDouble(), 'g', QLocale::FloatingPointShortest)
                    : notes            ? index.data(Qt::EditRole).toString()
                    : number.isValid() ? index.data().toString()
                                       : QString());
        }
        out += "\r\n";
    }
    return out;
}

void RunsTable::measureColumns() {
    needs_.clear();
    for (int column = 0; column < model_.columnCount(); ++column) {
        needs_.push_back(columnNeed(model_, column));
    }
    fitColumns();
}

void RunsTable::fitColumns() {
    const QScopedValueRollback fitting(fitting_, true);
    std::vector<ColumnNeed> needs = needs_;
    for (std::size_t i = 0; narrow_ && i < needs.size(); ++i) {
        const RunColumn& column = model_.columns()[i];
        const bool out = isLeftOut(column);
        setColumnHidden(static_cast<int>(i), out);
        if (out) {
            needs[i] = {};
        } else if (column.kind == RunColumn::Kind::Name) {
            needs[i].least += RunNameDelegate::room();
            needs[i].wanted += RunNameDelegate::room();
            needs[i].claimed = std::max(needs[i].wanted, viewport()->width());
        }
    }
    int least = 0;
    for (const ColumnNeed& need : needs) {
        least += need.least;
    }
    for (std::size_t i = 0; narrow_ && least > viewport()->width() && i < needs.size(); ++i) {
        if (model_.columns()[i].kind == RunColumn::Kind::Curve) {
            setColumnHidden(static_cast<int>(i), true); // the charts show it
            needs[i] = {};
        }
    }
    const bool tight = !sized_ && least > viewport()->width();
    for (std::size_t i = 0; !narrow_ && i < needs.size(); ++i) {
        const bool gives_way = tight && needs[i].says_nothing;
        setColumnHidden(static_cast<int>(i), gives_way);
        needs[i] = gives_way ? ColumnNeed{} : needs[i];
    }
    if (sized_ && !narrow_) {
        return;
    }
    const std::vector<int> widths = shareWidth(needs, viewport()->width());
    for (std::size_t i = 0; i < widths.size(); ++i) {
        if (!isColumnHidden(static_cast<int>(i))) {
            horizontalHeader()->resizeSection(static_cast<int>(i), widths[i]);
        }
    }
}

void RunsTable::resizeEvent(QResizeEvent* event) {
    QTableView::resizeEvent(event);
    fitColumns();
}

void RunsTable::changeEvent(QEvent* event) {
    QTableView::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        measureColumns();
    }
}

void RunsTable::saveColumns() const {
    QSettings settings = table_settings(settings_);
    QStringList ids;
    const QHeaderView* header = horizontalHeader();
    for (const RunColumn& column : visualColumns()) {
        ids << column.id();
    }
    for (int i = 0; i < model_.columnCount(); ++i) {
        const QString id = model_.columns()[static_cast<std::size_t>(i)].id();
        if (!narrow_) {
            settings.setValue(width_key(model_.columns()[static_cast<std::size_t>(i)]),
                              header->sectionSize(i));
        }
        if (i == header->sortIndicatorSection()) {
            settings.setValue("sort", id);
            settings.setValue("descending", header->sortIndicatorOrder() == Qt::DescendingOrder);
        }
    }
    settings.setValue("columns", ids);
    settings.setValue("sized", sized_);
}

} // namespace weft::ui
