// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plan/mesh/others/checkpoint_panel.h"

#include "core/base/error.h"
#include "core/train/engine.h"
#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"
#include "ui/file_dialog.h"
#include "ui/models/reshard_model.h"
#include "ui/pages/table.h"
#include "widgets/controls/arranging.h"
#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/messages.h"
#include "widgets/controls/shelf.h"
#include "widgets/controls/text_label.h"
#include "widgets/mesh/reshard_view.h"

#include <QComboBox>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QSortFilterProxyModel>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextLabel;
using widgets::TextStyle;

constexpr int kCheckpointPanelListWidth = 440;
constexpr int kViewWidth = 560;
constexpr int kTotalsWidth = 280;
constexpr int kCheckpointPanelRunsWidth = 200;
constexpr int kStepsWidth = 130;
enum CheckpointSheet { CheckpointEmptySheet, CheckpointContentSheet };

QComboBox* createBox(const char* object_name, const QString& accessible_name, int width) {
    auto* box = new QComboBox;
    box->setObjectName(object_name);
    box->setAccessibleName(accessible_name);
    box->setMinimumWidth(width);
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    widgets::setCompact(box);
    return box;
}

} // namespace

CheckpointPanel::CheckpointPanel(RunIndex& index, QWidget* parent)
    : PlanPanel(Shows::Whole, parent), index_(index) {
    setObjectName("checkpointPart");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    auto* panel = new widgets::Surface;
    auto* inner = new QVBoxLayout(panel);
    inner->setContentsMargins(0, 0, 0, 0);
    inner->setSpacing(0);
    column->addWidget(panel);
    inner->addWidget(createHeader());
    progress_ = new widgets::ProgressLine;
    progress_->setAccessibleName(tr("Looking into the checkpoint"));
    inner->addWidget(progress_);
    trouble_ = new widgets::Banner(widgets::MessageKind::Error);
    trouble_->setObjectName("reshardTrouble");
    trouble_->hide();
    stack_ = new QStackedWidget;
    empty_ = new widgets::EmptyState("checkpoint");
    empty_->setObjectName("reshardMessage");
    stack_->addWidget(widgets::verticalScroll(empty_));
    stack_->addWidget(createContent());
    auto* shelf = new widgets::Shelf(stack_, widgets::Shelf::Edge::Top);
    shelf->add(trouble_);
    inner->addWidget(shelf, 1);
    connect(&index_, &RunIndex::runsChanged, this, &CheckpointPanel::listRuns);
    connect(&index_, &RunIndex::checkpointsRead, this, &CheckpointPanel::listCheckpoints);
    listRuns();
    update();
}

QWidget* CheckpointPanel::createHeader() {
    header_ = new widgets::SectionHeader(tr("Checkpoint on this mesh"));
    runs_ = createBox("reshardRun", tr("Run"), kCheckpointPanelRunsWidth);
    connect(runs_, &QComboBox::activated, this, &CheckpointPanel::chooseRun);
    header_->addControl(runs_);
    steps_ = createBox("reshardStep", tr("Checkpoint"), kStepsWidth);
    connect(steps_, &QComboBox::currentIndexChanged, this, [this](int index) {
        if (index >= 0) {
            folder_ = toPath(steps_->itemData(index).toString());
            look();
        }
    });
    header_->addControl(steps_);
    auto* other = new QPushButton(tr("Open…"));
    other->setObjectName("reshardOpen");
    other->setToolTip(tr("Choose a checkpoint or run folder anywhere"));
    widgets::setCompact(other);
    connect(other, &QPushButton::clicked, this, [this] {
        const QString path =
            askForFolder(this, {tr("Open a checkpoint or run folder"), FileUse::Run});
        if (!path.isEmpty()) {
            open(toPath(path));
        }
    });
    header_->addControl(other);
    return header_;
}

QWidget* CheckpointPanel::createContent() {
    auto* splitter = new widgets::ThinSplitter(Qt::Horizontal);
    splitter->addWidget(createList());
    auto* middle = new QWidget;
    auto* column = new QVBoxLayout(middle);
    column->setContentsMargins(0, 0, 0, widgets::space::kTight);
    column->setSpacing(0);
    view_ = new widgets::ReshardView;
    view_->setObjectName("reshardView");
    column->addWidget(view_, 1);
    band_ = new widgets::ElidedLabel({}, TextStyle::Caption, Role::Muted);
    band_->setObjectName("reshardBand");
    auto* line = new QHBoxLayout;
    line->setContentsMargins(widgets::space::kGroup, 0, widgets::space::kGroup, 0);
    line->addWidget(band_);
    column->addLayout(line);
    splitter->addWidget(middle);
    splitter->addWidget(createTotals());
    splitter->setSizes({kCheckpointPanelListWidth, kViewWidth, kTotalsWidth});
    const auto say = [this] {
        const int index = view_->hoveredItem() >= 0 ? view_->hoveredItem() : view_->cursorItem();
        band_->setText(index >= 0 ? view_->item(index).name : arrayText());
    };
    connect(view_, &widgets::PaintedView::itemHovered, this, say);
    connect(view_, &widgets::PaintedView::cursorChanged, this, say);
    return splitter;
}

QWidget* CheckpointPanel::createList() {
    auto* left = new QWidget;
    auto* column = new QVBoxLayout(left);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* line = new QHBoxLayout;
    line->setContentsMargins(widgets::space::kControl, widgets::space::kTight,
                             widgets::space::kControl, widgets::space::kTight);
    filter_ = new QLineEdit;
    filter_->setObjectName("reshardFilter");
    filter_->setPlaceholderText(tr("Filter"));
    filter_->setAccessibleName(tr("Filter the arrays"));
    filter_->setClearButtonEnabled(true);
    widgets::setCompact(filter_);
    line->addWidget(filter_);
    column->addLayout(line);
    model_ = new ReshardModel(this);
    proxy_ = new QSortFilterProxyModel(this);
    proxy_->setSourceModel(model_);
    proxy_->setSortRole(ReshardModel::kSortRole);
    proxy_->setFilterKeyColumn(ReshardModel::NameColumn);
    proxy_->setFilterCaseSensitivity(Qt::CaseInsensitive);
    table_ = createTable(proxy_, "reshardTable", tr("Arrays of the checkpoint"));
    table_->setSortingEnabled(true);
    table_->sortByColumn(-1, Qt::AscendingOrder); // the largest first
    column->addWidget(table_, 1);
    connect(filter_, &QLineEdit::textChanged, proxy_, &QSortFilterProxyModel::setFilterFixedString);
    connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this,
            &CheckpointPanel::showTensor);
    return left;
}

QWidget* CheckpointPanel::createTotals() {
    auto* right = new QWidget;
    auto* column = new QVBoxLayout(right);
    column->setContentsMargins(0, widgets::space::kTight, 0, 0);
    column->setSpacing(widgets::space::kTight);
    totals_ = new TextLabel({}, TextStyle::Caption);
    totals_->setObjectName("reshardTotals");
    totals_->setWordWrap(true);
    totals_->setContentsMargins(widgets::space::kGroup, 0, widgets::space::kGroup, 0);
    column->addWidget(totals_);
    readers_ = new ReaderModel(this);
    reader_table_ = createTable(readers_, "reshardReaders", tr("What each device reads"));
    column->addWidget(reader_table_, 1);
    return right;
}

void CheckpointPanel::planChanged(const ShownPlan&) {
    if (run_->config.section("model") != model_section_) {
        model_section_ = run_->config.section("model");
        listRuns();
    }
    if (mesh_ != run_->config.section("mesh")) {
        look();
    }
}

void CheckpointPanel::staleChanged() {
    update();
}

void CheckpointPanel::setDialect(sharding::SpecDialect dialect) {
    if (dialect != dialect_) {
        dialect_ = dialect;
        look();
    }
}

void CheckpointPanel::open(const std::filesystem::path& folder) {
    runInBackground(
        this,
        [folder]() -> std::pair<std::filesystem::path, QString> {
            try {
                return {train::find_checkpoint(folder, "latest"), QString()};
            } catch (const Error& error) {
                return {{}, toQString(error.message())};
            }
        },
        [this, folder](const std::pair<std::filesystem::path, QString>& found) {
            if (!found.second.isEmpty()) {
                ReshardMap failed;
                failed.problem = found.second;
                take(std::move(failed));
                return;
            }
            const QSignalBlocker quiet(steps_);
            runs_->setCurrentIndex(-1);
            steps_->clear();
            steps_->addItem(pathText(found.first.filename()), pathText(found.first));
            folder_ = found.first;
            look();
        });
}

void CheckpointPanel::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (!index_.isLoaded()) {
        index_.refresh();
    }
    if (steps_->count() == 0 && runs_->currentIndex() >= 0) {
        chooseRun();
    }
    if (wanted_) {
        look();
    }
}

void CheckpointPanel::listRuns() {
    const QString before = runs_->currentData().toString();
    const QSignalBlocker quiet(runs_);
    runs_->clear();
    for (const train::RunSummary& run : index_.runs()) {
        if (run.problem.empty() && run.last_checkpoint_step >= 0 && isOfThisModel(run)) {
            runs_->addItem(runTitle(run.folder), pathText(run.folder));
        }
    }
    const int again = runs_->findData(before);
    const bool opened = steps_->count() > 0 && before.isEmpty(); // from elsewhere
    if (again < 0 && !opened) {
        const QSignalBlocker quiet_steps(steps_);
        steps_->clear();
        folder_.clear();
        looking_.drop();
        take({});
    }
    runs_->setCurrentIndex(again >= 0 ? again : opened ? -1 : runs_->count() > 0 ? 0 : -1);
    if (isVisible() && again < 0 && !opened) {
        chooseRun();
    }
    update();
}

/// Checkpoints of other models have nothing to do with this mesh.
bool CheckpointPanel::isOfThisModel(const train::RunSummary& run) const {
    return model_section_.is_null() ||
           (run.config.is_object() && run.config.value("model", config::Json()) == model_section_);
}

void CheckpointPanel::chooseRun() {
    if (runs_->currentIndex() >= 0) {
        index_.readCheckpoints(toPath(runs_->currentData().toString()));
    }
}

void CheckpointPanel::listCheckpoints(const std::filesystem::path& run,
                                      const std::vector<checkpoint::Entry>& entries) {
    if (runs_->currentIndex() < 0 || toPath(runs_->currentData().toString()) != run) {
        return;
    }
    const std::filesystem::path before = folder_;
    {
        const QSignalBlocker quiet(steps_);
        steps_->clear();
        for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
            steps_->addItem(entry->step >= 0 ? tr("step %1").arg(formatCount(entry->step))
                                             : pathText(entry->path.filename()),
                            pathText(entry->path));
        }
        const int again = steps_->findData(pathText(before));
        steps_->setCurrentIndex(again >= 0 ? again : steps_->count() > 0 ? 0 : -1);
    }
    folder_ = toPath(steps_->currentData().toString());
    if (folder_ != before || map_.rows.empty()) {
        look();
    }
}

void CheckpointPanel::look() {
    wanted_ = !isVisible();
    if (wanted_ || !digest_ || folder_.empty()) {
        update();
        return;
    }
    mesh_ = run_->config.section("mesh");
    looking_.start([folder = folder_, mesh = mesh_,
                    dialect = dialect_] { return mapReshard(folder, mesh, dialect); },
                   [this](ReshardMap map) { take(std::move(map)); });
    update();
}

void CheckpointPanel::take(ReshardMap map) {
    map_ = std::move(map);
    model_->setRows(map_.rows);
    readers_->setReaders(map_.devices);
    fillTotals();
    fitColumns(table_, ReshardModel::NameColumn);
    fitColumns(reader_table_, ReaderModel::DeviceColumn);
    if (proxy_->rowCount() > 0) {
        table_->selectRow(0);
    }
    showTensor();
    update();
}

void CheckpointPanel::update() {
    const bool known = !map_.rows.empty();
    stack_->setCurrentIndex(known ? CheckpointContentSheet : CheckpointEmptySheet);
    progress_->setBusy(looking_.isRunning());
    trouble_->setVisible(!map_.problem.isEmpty());
    trouble_->setText(tr("This checkpoint cannot be shown"),
                      map_.problem +
                          (map_.hint.isEmpty() ? QString() : QLatin1Char('\n') + map_.hint));
    header_->setSubtitle(known ? tr("%1 → %2").arg(map_.from_mesh, map_.to_mesh) : QString());
    table_->setEnabled(!stale_ && !looking_.isRunning());
    view_->setStale(stale_ || looking_.isRunning());
    runs_->setVisible(runs_->count() > 0);
    steps_->setVisible(steps_->count() > 0);
    const bool none = runs_->count() == 0 && folder_.empty();
    empty_->setTitle(!map_.problem.isEmpty() ? tr("Nothing to show")
                     : none                  ? tr("No run of this model has a checkpoint yet")
                     : looking_.isRunning()  ? tr("Looking into the checkpoint…")
                                             : tr("What would this mesh read of a checkpoint?"));
    empty_->setText(tr("Any mesh reads just the ranges that its devices need, whoever saved "
                       "them."));
}

void CheckpointPanel::showTensor() {
    const QModelIndexList rows = table_->selectionModel()->selectedRows();
    const bool shown = !rows.isEmpty() && map_.target;
    view_->setArray(shown ? reshardArray(map_, model_->row(proxy_->mapToSource(rows.front()).row()))
                          : widgets::ReshardArray());
    band_->setText(arrayText());
}

/// While no band is pointed at.
QString CheckpointPanel::arrayText() const {
    return view_->itemCount() == 0
               ? QString()
               : view_->array().from + QStringLiteral(" → ") + view_->array().to +
                     tr(" · %n band(s)", nullptr, view_->itemCount());
}

void CheckpointPanel::fillTotals() {
    qint64 read = 0;
    qint64 crossing = 0;
    for (const ReshardReader& one : map_.devices) {
        read += one.read_bytes;
        crossing += one.crossing_bytes;
    }
    QStringList kinds;
    for (const ReshardKind kind :
         {ReshardKind::Stays, ReshardKind::Moves, ReshardKind::Copied, ReshardKind::Cut}) {
        if (const int count = map_.count(kind); count > 0) {
            kinds.append(tr("%1 %2").arg(formatCount(count), reshardKindText(kind)));
        }
    }
    totals_->setText(map_.rows.empty()
                         ? QString()
                         : tr("%1 read, %2 of them saved by other devices\narrays: %3")
                               .arg(widgets::formatMemory(read), widgets::formatMemory(crossing),
                                    kinds.join(QStringLiteral(" · "))));
}

} // namespace weft::ui
