// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/runs/wall/matter_panel.h"

#include "ui/bridge/convert.h"
#include "ui/pages/runs/axes.h"
#include "ui/pages/runs/report/report_document.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/style.h"
#include "widgets/views/painted_view.h"

#include <QComboBox>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

constexpr double kMatterBar = 84;
constexpr double kMatterNumber = 40;
constexpr double kMatterSide = 12;
constexpr std::size_t kMatterRows = 12; // the strongest

QString share_text(const compare::Explained& one) {
    return one.share ? widgets::formatDecimals(one.share->value, 2) : QStringLiteral("–");
}

} // namespace

/// A row for each setting: name, bar, share, best value.
class MatterView : public widgets::PaintedView {
public:
    struct Row {
        QString path;
        QString name;
        double share = 0;
        QString share_text;
        QString best;
        QString tip;
    };
    void setRows(std::vector<Row> rows) {
        rows_ = std::move(rows);
        setMinimumHeight(static_cast<int>(rowHeight() * static_cast<double>(rows_.size())) + 4);
        itemsChanged();
    }
    const Row& row(int index) const { return rows_[static_cast<std::size_t>(index)]; }

    int itemCount() const override { return static_cast<int>(rows_.size()); }
    widgets::ViewItem item(int index) const override {
        const Row& shown = row(index);
        return {QRectF(2, rowHeight() * index, width() - 4, rowHeight()),
                shown.path + ": " + shown.tip, shown.path + '\n' + shown.tip};
    }
    int hitTest(const QPointF& position) const override {
        const int at = static_cast<int>(position.y() / rowHeight());
        return position.y() >= 0 && at < itemCount() ? at : -1;
    }

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override {
        const widgets::Theme& theme = widgets::Theme::current();
        painter.fillRect(QRectF(QPointF(), view_size), theme.color(widgets::Role::Surface));
        const double bar =
            std::clamp(0.18 * view_size.width(), 40.0, kMatterBar * theme.fontScale());
        const double number = kMatterNumber * theme.fontScale();
        const double left = view_size.width() - 2 * kMatterSide - bar - number;
        const double name = std::max(60.0, left * 0.5);
        for (int i = 0; i < itemCount(); ++i) {
            const Row& shown = row(i);
            const double y = rowHeight() * i;
            if (i == hoveredItem()) {
                painter.fillRect(QRectF(0, y, view_size.width(), rowHeight()),
                                 theme.color(widgets::Role::Inset));
            }
            widgets::paintText(painter, QRectF(kMatterSide, y, name - 6, rowHeight()),
                               Qt::AlignLeft | Qt::AlignVCenter, shown.name,
                               theme.font(widgets::TextStyle::MonoSmall),
                               theme.color(widgets::Role::Text), Qt::ElideMiddle);
            const QRectF ground(kMatterSide + name, y + rowHeight() / 2 - 4, bar, 8);
            painter.fillRect(ground, theme.color(widgets::Role::EmptyBar));
            painter.fillRect(QRectF(ground.topLeft(), QSizeF(bar * shown.share, 8)),
                             theme.color(widgets::Role::Accent));
            widgets::paintText(painter, QRectF(ground.right(), y, number, rowHeight()),
                               Qt::AlignRight | Qt::AlignVCenter, shown.share_text,
                               theme.font(widgets::TextStyle::MonoSmall),
                               theme.color(widgets::Role::Text));
            widgets::paintText(
                painter,
                QRectF(ground.right() + number + 8, y,
                       view_size.width() - ground.right() - number - 8 - kMatterSide, rowHeight()),
                Qt::AlignLeft | Qt::AlignVCenter, shown.best,
                theme.font(widgets::TextStyle::Caption), theme.color(widgets::Role::Muted));
        }
    }

private:
    static double rowHeight() { return widgets::lineHeight(widgets::TextStyle::MonoSmall) + 8; }

    std::vector<Row> rows_;
};

MatterPanel::MatterPanel(const RunLooks& looks, const RunSettings& settings, QWidget* parent)
    : Surface(widgets::Role::Surface, parent), looks_(looks), settings_(settings) {
    setObjectName("matterPanel");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* header = new widgets::SectionHeader(tr("What mattered"));
    metric_ = new QComboBox;
    metric_->setObjectName("matterMetric");
    metric_->setAccessibleName(tr("For which metric"));
    metric_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    metric_->setMinimumContentsLength(12);
    widgets::setCompact(metric_);
    header->addControl(metric_);
    column->addWidget(header);
    basis_ = new widgets::TextLabel({}, widgets::TextStyle::Caption, widgets::Role::Muted);
    basis_->setObjectName("matterBasis");
    basis_->setWordWrap(true);
    basis_->setContentsMargins(widgets::space::kGroup, 0, widgets::space::kGroup,
                               widgets::space::kTight);
    column->addWidget(basis_);
    view_ = new MatterView;
    view_->setObjectName("matterView");
    view_->setAccessibleName(tr("Settings by how much of the metric goes with them"));
    column->addWidget(widgets::verticalScroll(view_), 1);
    connect(view_, &widgets::PaintedView::itemActivated, this, [this](int index) {
        const QString path = view_->row(index).path; // the rows are made anew
        emit settingChosen(path);
    });
    connect(metric_, &QComboBox::activated, this, [this] {
        explain();
        emit metricChanged();
    });
    connect(&settings_, &RunSettings::changed, this, &MatterPanel::explain);
    connect(&looks_, &RunLooks::changed, this, &MatterPanel::followRuns);
    followRuns();
}

std::string MatterPanel::metric() const {
    return metric_->currentData().toString().toStdString();
}

ReportBlock MatterPanel::block() const {
    ReportBlock block;
    block.kind = ReportBlock::Kind::Table;
    block.text = tr("What went with %1: %2").arg(metricWords(metric()), basis_->text());
    block.columns =
        QStringList{tr("setting"), tr("share of variance"), tr("rank correlation"), tr("best at")};
    for (const compare::Explained& one : explained_) {
        block.rows.push_back({toQString(one.path), share_text(one),
                              one.correlation ? widgets::formatDecimals(one.correlation->value, 2)
                                              : QStringLiteral("–"),
                              toQString(one.best)});
    }
    return block;
}

void MatterPanel::followRuns() {
    std::vector<std::string> metrics = metricsByUse(looks_.runs());
    // What the runs are after stands first.
    const auto goal = std::find_if(looks_.runs().begin(), looks_.runs().end(),
                                   [](const auto& run) { return run.best_value.has_value(); });
    if (goal != looks_.runs().end()) {
        const auto found = std::find(metrics.begin(), metrics.end(), goal->best_metric);
        if (found != metrics.end()) {
            std::rotate(metrics.begin(), found, found + 1);
        }
    }
    if (metrics != metrics_) {
        metrics_ = std::move(metrics);
        const QVariant before = metric_->currentData();
        const QSignalBlocker blocker(metric_);
        metric_->clear();
        for (const std::string& name : metrics_) {
            metric_->addItem(metricWords(name), toQString(name));
        }
        metric_->setCurrentIndex(std::max(0, metric_->findData(before)));
        emit metricChanged();
    }
    explain();
}

void MatterPanel::explain() {
    explained_.clear();
    std::vector<MatterView::Row> rows;
    // Their settings are found a moment later than their list.
    const std::vector<train::RunSummary>& runs = looks_.runs();
    const bool known = runs.size() == settings_.folders().size() && metric_->count() > 0;
    std::size_t basis = 0;
    if (known) {
        const RunResults results = resultsOf(runs, metric());
        explained_ =
            compare::explain(settings_.settings(), results.numbers(), results.smaller_is_better);
        for (const compare::Explained& one : explained_) {
            if (rows.size() == kMatterRows) {
                break;
            }
            MatterView::Row& row = rows.emplace_back();
            row.path = toQString(one.path);
            row.name = settings_.shortName(row.path);
            row.share = one.share ? one.share->value : 0;
            row.share_text = share_text(one);
            row.best = one.best.empty() ? QString() : tr("best at %1").arg(toQString(one.best));
            basis = std::max(basis, one.share ? one.share->runs : 0);
            row.tip = one.share ? tr("%1 of the variance, from %2 runs")
                                      .arg(share_text(one))
                                      .arg(one.share->runs)
                                : tr("too few runs of each value to tell");
            if (one.correlation) {
                row.tip += '\n' + tr("rank correlation %1 (Spearman)")
                                      .arg(widgets::formatDecimals(one.correlation->value, 2));
            }
            if (!one.best.empty()) {
                row.tip +=
                    '\n' +
                    tr("best mean %1 at %2").arg(formatMetric(one.best_mean), toQString(one.best));
            }
        }
    }
    basis_->setText(
        !known || rows.empty()
            ? tr("The runs of the table differ in no setting.")
            : tr("Share of its variance that lies between the values of a setting, less "
                 "chance; %n run(s)",
                 nullptr, static_cast<int>(basis)));
    basis_->setToolTip(
        tr("Epsilon squared (Kelley 1935): the variance between the groups of runs "
           "that share a value, less what chance alone would give, over the variance "
           "of all. A setting that goes with the metric need not be its cause."));
    view_->setRows(std::move(rows));
}

} // namespace weft::ui
