// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plan/mesh/others/advice_panel.h"

#include "core/base/text.h"
#include "ui/bridge/convert.h"
#include "ui/models/advice_model.h"
#include "ui/pages/table.h"
#include "widgets/controls/arranging.h"
#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/messages.h"
#include "widgets/controls/pill.h"
#include "widgets/controls/text_label.h"
#include "widgets/views/trade_off_chart.h"

#include <QPushButton>
#include <QScrollArea>
#include <QSortFilterProxyModel>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <numeric>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextLabel;
using widgets::TextStyle;

constexpr int kAdvicePanelTickMs = 250;
constexpr int kTableWidth = 760;
constexpr int kAdvicePanelChartWidth = 300;
constexpr int kReasonsWidth = 220;
enum AdviceSheet { AdviceEmptySheet, ResultsSheet };

} // namespace

AdvicePanel::AdvicePanel(Planner::Meshes meshes, QWidget* parent)
    : PlanPanel(Shows::Whole, parent), search_(std::move(meshes)) {
    setObjectName("advicePart");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    auto* panel = new widgets::Surface;
    auto* inner = new QVBoxLayout(panel);
    inner->setContentsMargins(0, 0, 0, 0);
    inner->setSpacing(0);
    column->addWidget(panel);
    inner->addWidget(createHeader());
    progress_ = new widgets::ProgressLine;
    progress_->setAccessibleName(tr("Looking for better meshes"));
    inner->addWidget(progress_);
    stack_ = new QStackedWidget;
    stack_->addWidget(createEmpty());
    stack_->addWidget(createResults());
    inner->addWidget(stack_, 1);
    tick_.setInterval(kAdvicePanelTickMs);
    connect(&tick_, &QTimer::timeout, this, &AdvicePanel::updateState);
    connect(&search_, &MeshSearch::changed, this, [this] {
        if (!search_.isSearching() && search_.isDone()) {
            fill();
            emit waysChanged();
        }
        update();
    });
    update();
}

QWidget* AdvicePanel::createHeader() {
    header_ = new widgets::SectionHeader(tr("Better meshes"));
    badge_ = new widgets::Badge(tr("of another draft"), Role::Warning);
    badge_->setToolTip(tr("The draft has changed since; look again for figures of the new one"));
    header_->setBadge(badge_);
    cancel_ = new QPushButton(tr("Cancel"));
    cancel_->setObjectName("adviceCancel");
    widgets::setCompact(cancel_);
    connect(cancel_, &QPushButton::clicked, this, [this] {
        search_.cancel();
        look_->setFocus();
    });
    header_->addControl(cancel_);
    look_ = new QPushButton(tr("Look for better meshes"));
    look_->setObjectName("adviceLook");
    look_->setToolTip(tr("Estimate every arrangement of the devices along data, pipeline and "
                         "model, and plan the best ones"));
    widgets::setCompact(look_);
    connect(look_, &QPushButton::clicked, this, &AdvicePanel::look);
    header_->addControl(look_);
    use_ = new QPushButton(tr("Use this mesh"));
    use_->setObjectName("adviceUse");
    widgets::setCompact(use_);
    connect(use_, &QPushButton::clicked, this, &AdvicePanel::adopt);
    header_->addControl(use_);
    return header_;
}

QWidget* AdvicePanel::createEmpty() {
    empty_ = new widgets::EmptyState("mesh");
    empty_->setObjectName("adviceMessage");
    return widgets::verticalScroll(empty_);
}

QWidget* AdvicePanel::createResults() {
    auto* splitter = new widgets::ThinSplitter(Qt::Horizontal);
    auto* left = new QWidget;
    auto* column = new QVBoxLayout(left);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    model_ = new AdviceModel(this);
    proxy_ = new QSortFilterProxyModel(this);
    proxy_->setSourceModel(model_);
    proxy_->setSortRole(AdviceModel::kSortRole);
    table_ = createTable(proxy_, "adviceTable", tr("Better meshes"));
    table_->setSortingEnabled(true);
    table_->sortByColumn(-1, Qt::AscendingOrder); // the draft first, then the fastest
    column->addWidget(table_, 1);
    assignments_ = new widgets::ElidedLabel({}, TextStyle::MonoSmall, Role::Muted);
    assignments_->setObjectName("adviceAssignments");
    auto* line = new QHBoxLayout;
    line->setContentsMargins(widgets::space::kGroup, widgets::space::kTight, widgets::space::kGroup,
                             widgets::space::kTight);
    line->addWidget(assignments_, 1);
    column->addLayout(line);
    splitter->addWidget(left);
    chart_ = new widgets::TradeOffChart;
    chart_->setObjectName("adviceChart");
    chart_->setAccessibleName(tr("Memory against time of the meshes"));
    chart_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    splitter->addWidget(chart_);
    splitter->addWidget(createReasons());
    splitter->setSizes({kTableWidth, kAdvicePanelChartWidth, kReasonsWidth});
    connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] {
        const int row = selectedRow();
        const auto point = std::find(order_.begin(), order_.end(), row);
        chart_->setCursorItem(point == order_.end() ? -1
                                                    : static_cast<int>(point - order_.begin()));
        describe();
    });
    connect(table_, &QTableView::activated, this, &AdvicePanel::adopt);
    connect(chart_, &widgets::PaintedView::cursorChanged, this, [this](int point) {
        if (point >= 0) {
            select(order_[static_cast<std::size_t>(point)]);
        }
    });
    return splitter;
}

QWidget* AdvicePanel::createReasons() {
    auto* content = new QWidget;
    content->setObjectName("adviceReasons");
    reasons_ = new QVBoxLayout(content);
    reasons_->setContentsMargins(widgets::space::kGroup, widgets::space::kControl,
                                 widgets::space::kGroup, widgets::space::kControl);
    reasons_->setSpacing(widgets::space::kTight);
    return widgets::verticalScroll(content);
}

void AdvicePanel::planChanged(const ShownPlan&) {
    if (search_.isDone()) {
        fill();
    }
    update();
}

void AdvicePanel::staleChanged() {
    update();
}

bool AdvicePanel::isOfAnother() const {
    return search_.isDone() && (!digest_ || !sameSearch(search_.run(), *run_));
}

void AdvicePanel::look() {
    if (digest_ && !stale_) {
        since_.start();
        search_.start(*run_, digest_->plan);
        cancel_->setFocus();
    }
}

void AdvicePanel::update() {
    const bool searching = search_.isSearching();
    const bool several = digest_ && !digest_->plan->mesh.single();
    const bool shown = search_.isDone() && (!search_.ways().empty() || !search_.others().empty());
    stack_->setCurrentIndex(shown ? ResultsSheet : AdviceEmptySheet);
    badge_->setVisible(shown && isOfAnother());
    look_->setVisible(!searching);
    look_->setText(shown ? tr("Look again") : tr("Look for better meshes"));
    look_->setEnabled(several && !stale_);
    cancel_->setVisible(searching);
    use_->setVisible(shown);
    progress_->setBusy(searching);
    searching ? tick_.start() : tick_.stop();
    chart_->setStale(stale_ || isOfAnother());
    if (!search_.problem().isEmpty() && !searching) {
        empty_->setIconName("problems");
        empty_->setTitle(search_.problem());
        empty_->setText(search_.hint());
    } else {
        empty_->setIconName("mesh");
        empty_->setTitle(!several    ? tr("One device has one mesh")
                         : searching ? tr("Looking for better meshes…")
                                     : tr("Is there a better mesh?"));
        empty_->setText(!several
                            ? tr("Use several devices to look for the best arrangement.")
                            : tr("Every arrangement of these devices is estimated, and the best "
                                 "are planned. Nothing changes until you use one."));
    }
    updateState();
    describe();
}

void AdvicePanel::updateState() {
    if (search_.isSearching()) {
        header_->setSubtitle(tr("%n plan(s) made", nullptr, search_.plansMade()) +
                             tr(" · %1").arg(formatDuration(double(since_.elapsed()) / 1000)));
    } else if (!search_.problem().isEmpty()) {
        header_->setSubtitle(stack_->currentIndex() == ResultsSheet
                                 ? QStringList{search_.problem(), search_.hint()}.join(
                                       search_.hint().isEmpty() ? QString() : tr(". "))
                                 : QString());
    } else if (search_.isDone()) {
        header_->setSubtitle(
            tr("%1 of %n candidate(s)", nullptr, search_.candidates())
                .arg(formatCount(static_cast<qint64>(search_.ways().size()))) +
            (digest_ && digest_->plan->limit_bytes
                 ? tr(" · limit %1").arg(widgets::formatMemory(*digest_->plan->limit_bytes))
                 : QString()));
    } else {
        header_->setSubtitle({});
    }
}

// The draft's own row stands beside the others only while the figures are of one run.
void AdvicePanel::fill() {
    const int before = selectedRow();
    const int way = before >= 0 ? model_->row(before).way : -1;
    model_->setWays(search_.ways(), isOfAnother() ? nullptr : digest_->plan.get());
    fillChart();
    fillReasons();
    fitColumns(table_, AdviceModel::SettingsColumn, EmptyColumns::Hide);
    const auto& rows = model_->rows();
    const auto same = std::find_if(rows.begin(), rows.end(), [&](const AdviceRow& one) {
        return one.way >= 0 && (one.way == way || way < 0);
    });
    if (same != rows.end()) {
        select(static_cast<int>(same - rows.begin()));
    }
}

void AdvicePanel::fillChart() {
    const auto& rows = model_->rows();
    order_.clear();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows[i].step_ms) {
            order_.push_back(static_cast<int>(i));
        }
    }
    std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) {
        return *model_->row(a).step_ms < *model_->row(b).step_ms;
    });
    std::vector<widgets::TradeOffPoint> points;
    for (const int index : order_) {
        const AdviceRow& one = model_->row(index);
        points.push_back({*one.step_ms, one.bytes, one.way < 0 ? tr("draft") : one.mesh,
                          model_->sentence(one), one.way < 0, one.best});
    }
    chart_->setAxis(tr("ms a step"));
    chart_->setPoints(std::move(points));
}

void AdvicePanel::fillReasons() {
    widgets::clearLayout(*reasons_);
    const auto add = [this](const QString& text, TextStyle style, Role role) {
        auto* label = new TextLabel(text, style, role);
        label->setWordWrap(true);
        reasons_->addWidget(label);
    };
    add(search_.ways().empty() ? tr("None fits") : tr("Why the others are not here"),
        TextStyle::CaptionStrong, Role::Text);
    for (const auto& [reason, count] : search_.others()) {
        add(tr("%1  %2").arg(formatCount(count), toQString(reason)), TextStyle::Caption,
            Role::Muted);
    }
    const bool pipelines = std::any_of(search_.ways().begin(), search_.ways().end(),
                                       [](const MeshWay& one) { return one.bubble.has_value(); });
    if (pipelines) {
        add(tr("Pipelines were planned with one microbatch more than stages; the others follow "
               "from it."),
            TextStyle::Caption, Role::Muted);
    }
    reasons_->addStretch(1);
}

int AdvicePanel::selectedRow() const {
    const QModelIndexList rows = table_->selectionModel()->selectedRows();
    return rows.isEmpty() ? -1 : proxy_->mapToSource(rows.front()).row();
}

void AdvicePanel::select(int row) {
    if (row != selectedRow()) {
        const QModelIndex index = proxy_->mapFromSource(model_->index(row, 0));
        table_->selectRow(index.row());
        table_->scrollTo(index);
    }
}

void AdvicePanel::describe() {
    const int row = selectedRow();
    const int way = row >= 0 ? model_->row(row).way : -1;
    QString text;
    if (way >= 0) {
        const auto& overrides = search_.ways()[static_cast<std::size_t>(way)].way.overrides;
        text = QStringLiteral("--set ") + toQString(join(overrides, " --set "));
    }
    assignments_->setText(text);
    use_->setEnabled(way >= 0 && !stale_);
    use_->setToolTip(way < 0 ? tr("Choose a mesh of the list") : text);
}

void AdvicePanel::adopt() {
    const int row = selectedRow();
    if (row < 0 || model_->row(row).way < 0 || stale_) {
        return;
    }
    const MeshWay chosen = search_.ways()[static_cast<std::size_t>(model_->row(row).way)];
    emit adopted(chosen.way.overrides, toQString(chosen.way.change));
}

} // namespace weft::ui
