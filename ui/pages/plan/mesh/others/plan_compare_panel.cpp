// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plan/mesh/others/plan_compare_panel.h"

#include "core/advise/alternatives.h"
#include "core/sharding/strategies/strategy_list.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/draft/mesh_edit.h"
#include "ui/models/compare_model.h"
#include "ui/pages/table.h"
#include "widgets/controls/arranging.h"
#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/messages.h"
#include "widgets/controls/text_label.h"
#include "widgets/views/memory_bar.h"

#include <QComboBox>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalBlocker>
#include <QSortFilterProxyModel>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

constexpr int kMemoryWidth = 270;
constexpr int kLeastBarWidth = 170;
constexpr int kFigureWidth = 420;
constexpr int kTensorWidth = 590;
constexpr int kBoxWidth = 260;
enum CompareSheet { CompareEmptySheet, TablesSheet };
enum ComparedTensorsSheet { TensorMessage, TensorTable };

/// "data=2 × model=2, ZeRO 1"
QString meshText(const plan::ExecutionPlan& plan) {
    return toQString(plan.mesh.to_text()).replace(" x ", QStringLiteral(" × ")) +
           (plan.pipeline ? QStringLiteral(", ") + toQString(plan.pipeline->schedule) : QString()) +
           (plan.zero_stage > 0 ? QStringLiteral(", ZeRO %1").arg(plan.zero_stage) : QString());
}

bool sameDocument(const MeshRun& a, const MeshRun& b) {
    return a.config.document == b.config.document && a.hardware == b.hardware;
}

} // namespace

PlanComparePanel::PlanComparePanel(Planner::Plan plan, QWidget* parent)
    : PlanPanel(Shows::Whole, parent), other_(std::move(plan)) {
    setObjectName("meshCompareTab");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    auto* panel = new widgets::Surface;
    auto* inner = new QVBoxLayout(panel);
    inner->setContentsMargins(0, 0, 0, 0);
    inner->setSpacing(0);
    column->addWidget(panel);
    inner->addWidget(createHeader());
    progress_ = new widgets::ProgressLine;
    progress_->setAccessibleName(tr("Planning the other mesh"));
    inner->addWidget(progress_);
    stack_ = new QStackedWidget;
    empty_ = new widgets::EmptyState("compare");
    empty_->setObjectName("compareMessage");
    stack_->addWidget(widgets::verticalScroll(empty_));
    stack_->addWidget(createTables());
    inner->addWidget(stack_, 1);
    connect(&other_, &PlanJob::changed, this, [this] {
        fill();
        update();
    });
    listChoices();
    update();
}

QWidget* PlanComparePanel::createHeader() {
    header_ = new widgets::SectionHeader(tr("Compare"));
    auto* with =
        new widgets::TextLabel(tr("with"), widgets::TextStyle::Caption, widgets::Role::Muted);
    header_->addControl(with);
    box_ = new QComboBox;
    box_->setObjectName("compareWith");
    box_->setAccessibleName(tr("Compare with"));
    box_->setMinimumWidth(kBoxWidth);
    box_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    widgets::setCompact(box_);
    connect(box_, &QComboBox::currentIndexChanged, this, [this] { planOther(); });
    header_->addControl(box_);
    keep_ = new QPushButton(tr("Keep this"));
    keep_->setObjectName("compareKeep");
    keep_->setToolTip(tr("Keep the draft's mesh as it is now, to compare others with it later"));
    widgets::setCompact(keep_);
    connect(keep_, &QPushButton::clicked, this, &PlanComparePanel::keep);
    header_->addControl(keep_);
    use_ = new QPushButton(tr("Use B"));
    use_->setObjectName("compareUse");
    widgets::setCompact(use_);
    connect(use_, &QPushButton::clicked, this, &PlanComparePanel::adopt);
    header_->addControl(use_);
    return header_;
}

QWidget* PlanComparePanel::createMemory() {
    auto* content = new QWidget;
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(widgets::space::kGroup, widgets::space::kControl,
                               widgets::space::kGroup, widgets::space::kControl);
    column->setSpacing(widgets::space::kControl);
    bar_ = new widgets::MemoryBar;
    bar_->setObjectName("compareMemory");
    bar_->setAccessibleName(tr("Memory of a device, A and B"));
    bar_->setAlike(true);
    bar_->setMinimumWidth(kLeastBarWidth); // its legend breaks into more lines
    column->addWidget(bar_);
    sides_ = new widgets::TextLabel({}, widgets::TextStyle::Caption, widgets::Role::Muted);
    sides_->setObjectName("compareSides");
    sides_->setWordWrap(true);
    column->addWidget(sides_);
    column->addStretch(1);
    QScrollArea* scroll = widgets::verticalScroll(content);
    scroll->setMinimumWidth(kLeastBarWidth + 2 * widgets::space::kGroup +
                            scroll->verticalScrollBar()->sizeHint().width());
    return scroll;
}

QWidget* PlanComparePanel::createTables() {
    auto* splitter = new widgets::ThinSplitter(Qt::Horizontal);
    splitter->addWidget(createMemory());
    figures_ = new FigureModel(this);
    figure_table_ = createTable(figures_, "compareFigures", tr("Figures of both"));
    splitter->addWidget(figure_table_);
    tensors_ = new TensorCompareModel(this);
    tensor_proxy_ = new QSortFilterProxyModel(this);
    tensor_proxy_->setSourceModel(tensors_);
    tensor_proxy_->setSortRole(TensorCompareModel::kSortRole);
    tensor_table_ =
        createTable(tensor_proxy_, "compareTensors", tr("Tensors that a device holds otherwise"));
    tensor_table_->setSortingEnabled(true);
    tensor_table_->sortByColumn(-1, Qt::AscendingOrder); // the largest difference first
    tensor_stack_ = new QStackedWidget;
    auto* alike = new widgets::EmptyState("check");
    alike->setObjectName("compareAlike");
    alike->setTitle(tr("All tensors are held alike"));
    alike->setText(tr("A device keeps the same part of each in A and in B."));
    tensor_stack_->addWidget(widgets::verticalScroll(alike));
    tensor_stack_->addWidget(tensor_table_);
    splitter->addWidget(tensor_stack_);
    splitter->setSizes({kMemoryWidth, kFigureWidth, kTensorWidth});
    return splitter;
}

void PlanComparePanel::planChanged(const ShownPlan& before) {
    const bool edited = before.digest && !sameDocument(*before.run, *run_);
    if (edited) {
        before_ =
            Choice{tr("The draft before the last edit"), "before", {}, *before.run, before.digest};
    }
    if (edited || !before.digest) {
        listChoices();
        planOther();
    }
    fill();
    update();
}

void PlanComparePanel::staleChanged() {
    update();
}

void PlanComparePanel::setDialect(sharding::SpecDialect dialect) {
    if (dialect != dialect_) {
        dialect_ = dialect;
        fill();
    }
}

void PlanComparePanel::setProposals(const std::vector<MeshWay>& ways) {
    proposals_ = ways;
    listChoices();
}

void PlanComparePanel::listChoices() {
    const Choice* now = chosen();
    const std::string id = now == nullptr ? std::string() : now->id;
    choices_.clear();
    if (before_) {
        choices_.push_back(*before_);
    }
    choices_.insert(choices_.end(), kept_.begin(), kept_.end());
    for (const MeshWay& one : proposals_) {
        choices_.push_back({tr("Advice: %1").arg(toQString(one.way.change)),
                            "advice/" + one.way.change, one.way.overrides, std::nullopt, nullptr});
    }
    if (digest_) {
        const MeshEdit own = MeshEdit::of(run_->config);
        for (const sharding::StrategyDef* def : sharding::all_strategies()) {
            const std::string name(def->name);
            if (name != "custom" && name != own.strategy) {
                choices_.push_back(
                    {tr("Strategy: %1").arg(toQString(name).replace('_', ' ')), "strategy/" + name,
                     assignmentsOf(withStrategy(own, name), run_->config), std::nullopt, nullptr});
            }
        }
    }
    const QSignalBlocker quiet(box_);
    box_->clear();
    int current = -1;
    for (std::size_t i = 0; i < choices_.size(); ++i) {
        box_->addItem(choices_[i].title);
        box_->setItemData(static_cast<int>(i), choices_[i].title, Qt::ToolTipRole);
        current = choices_[i].id == id ? static_cast<int>(i) : current;
    }
    box_->setCurrentIndex(current >= 0 ? current : choices_.empty() ? -1 : 0);
    if (current < 0) {
        planOther();
    }
}

const PlanComparePanel::Choice* PlanComparePanel::chosen() const {
    const int index = box_->currentIndex();
    return index >= 0 && index < static_cast<int>(choices_.size())
               ? &choices_[static_cast<std::size_t>(index)]
               : nullptr;
}

std::optional<MeshRun> PlanComparePanel::runOf(const Choice& choice) const {
    if (choice.run) {
        return choice.run;
    }
    auto changed = compile::with_overrides(run_->config, choice.overrides);
    return changed ? std::optional(MeshRun{*std::move(changed), run_->hardware}) : std::nullopt;
}

void PlanComparePanel::planOther() {
    wanted_ = !isVisible();
    const Choice* choice = chosen();
    if (wanted_ || choice == nullptr || !digest_) {
        other_.clear();
        return;
    }
    if (choice->digest) {
        other_.take(choice->digest);
    } else if (const auto run = runOf(*choice)) {
        other_.start(*run);
    } else {
        other_.clear();
    }
}

void PlanComparePanel::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (wanted_) {
        planOther();
    }
}

void PlanComparePanel::fill() {
    const auto other = other_.digest();
    if (!digest_ || !other) {
        return;
    }
    PlanComparison found = comparePlans(*digest_, *other, dialect_);
    bar_->setMeasured(found.a.segments, QStringLiteral("A"));
    bar_->setPlanned(found.b.segments, QStringLiteral("B"));
    const auto limitText = [](const ComparedSide& side) {
        return side.limit ? widgets::formatMemory(*side.limit) : tr("none");
    };
    const bool one_limit = limitText(found.a) == limitText(found.b);
    bar_->setLimit(one_limit ? found.a.limit : std::nullopt);
    QString text =
        tr("A: the draft, %1\nB: %2").arg(meshText(*digest_->plan), meshText(*other->plan));
    text += one_limit
                ? tr("\nlimit of a device: %1").arg(limitText(found.a))
                : tr("\nlimit of a device: A %1, B %2").arg(limitText(found.a), limitText(found.b));
    text += QLatin1Char('\n') + tr("%n tensor(s) held alike", nullptr, found.equal_tensors);
    sides_->setText(text);
    figures_->setFigures(std::move(found.figures));
    tensors_->setTensors(std::move(found.tensors));
    fitColumns(figure_table_, FigureModel::NameColumn);
    fitColumns(tensor_table_, TensorCompareModel::NameColumn);
    tensor_stack_->setCurrentIndex(tensors_->rowCount() > 0 ? TensorTable : TensorMessage);
}

void PlanComparePanel::update() {
    const auto other = other_.digest();
    const Choice* choice = chosen();
    stack_->setCurrentIndex(digest_ && other ? TablesSheet : CompareEmptySheet);
    progress_->setBusy(other_.isPlanning());
    const bool old = stale_ || other_.isPlanning();
    for (QTableView* table : {figure_table_, tensor_table_}) {
        table->setEnabled(!old);
    }
    keep_->setEnabled(digest_ && !stale_);
    const std::optional<MeshRun> run =
        choice != nullptr && digest_ ? runOf(*choice) : std::optional<MeshRun>();
    const bool possible = run.has_value();
    const bool same = possible && sameDocument(*run, *run_);
    use_->setEnabled(possible && !same && !stale_ && (other || choice->run));
    use_->setToolTip(same ? tr("B is the draft as it is now") : QString());
    header_->setSubtitle(!other_.problem().isEmpty() ? other_.problem()
                         : digest_ && other && !old  ? verdictOn(*digest_, *other)
                                                     : QString());
    empty_->setTitle(!digest_                         ? tr("Nothing is planned yet")
                     : other_.isPlanning()            ? tr("Planning the other mesh…")
                     : choice != nullptr && !possible ? tr("The draft cannot have this mesh")
                                                      : tr("Two meshes side by side"));
    empty_->setText(!other_.problem().isEmpty()
                        ? other_.problem()
                        : tr("A strategy, a proposal of the advisor, a mesh that you kept, or the "
                             "draft before the last edit."));
}

void PlanComparePanel::keep() {
    const QString title = tr("Kept: %1").arg(meshText(*digest_->plan));
    const std::string id = "kept/" + std::to_string(kept_.size());
    kept_.push_back({title, id, {}, *run_, digest_});
    listChoices();
    const auto found = std::find_if(choices_.begin(), choices_.end(),
                                    [&](const Choice& one) { return one.id == id; });
    box_->setCurrentIndex(static_cast<int>(found - choices_.begin()));
}

// A run of its own comes back with everything in which it differs.
void PlanComparePanel::adopt() {
    const Choice* choice = chosen();
    if (choice == nullptr || stale_) {
        return;
    }
    std::vector<std::string> overrides = choice->overrides;
    if (choice->run) {
        for (const compile::FieldChange& change :
             compile::compare(run_->config, choice->run->config)) {
            overrides.push_back(change.path + "=" + change.after.dump());
        }
    }
    const QString what = other_.digest() ? meshText(*other_.digest()->plan) : choice->title;
    emit adopted(overrides, what);
}

} // namespace weft::ui
