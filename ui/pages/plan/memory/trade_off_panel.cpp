// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plan/memory/trade_off_panel.h"

#include "ui/bridge/convert.h"
#include "ui/bridge/plan/plan_preview.h"
#include "ui/pages/plan/memory/verdict_panel.h"
#include "widgets/controls/arranging.h"
#include "widgets/controls/card.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/style.h"
#include "widgets/views/trade_off_chart.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>
#include <numeric>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextLabel;
using widgets::TextStyle;

constexpr std::size_t kMostAdvice = 8;

QString pointText(const plan::Alternative& alternative) {
    QString text = QStringLiteral("%1: %2").arg(toQString(alternative.change),
                                                widgets::formatMemory(alternative.peak_bytes));
    if (alternative.predicted_step_ms) {
        text +=
            QObject::tr(", %1 ms a step").arg(formatMilliseconds(*alternative.predicted_step_ms));
    }
    return alternative.fits ? text : text + QObject::tr(", does not fit");
}

/// "blocks", "auto, budget 1.2 GiB".
QString shortName(const plan::Alternative& alternative) {
    return toQString(alternative.change).remove(QStringLiteral("recompute "));
}

} // namespace

TradeOffPanel::TradeOffPanel(PlanPreview& preview, QWidget* parent)
    : QWidget(parent), preview_(preview) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    header_ = new widgets::SectionHeader(tr("Memory against time"));
    header_->setSubtitle(tr("recompute"));
    column->addWidget(header_);
    auto* body = new QVBoxLayout;
    body->setContentsMargins(widgets::space::kGroup, widgets::space::kTight, widgets::space::kGroup,
                             widgets::space::kGroup);
    body->setSpacing(widgets::space::kTight);
    state_ = new TextLabel({}, TextStyle::Caption, Role::Muted);
    state_->setWordWrap(true);
    body->addWidget(state_);
    chart_ = new widgets::TradeOffChart;
    chart_->setObjectName("tradeOff");
    body->addWidget(chart_);
    point_line_ = new QWidget;
    auto* line = new QHBoxLayout(point_line_);
    line->setContentsMargins(0, 0, 0, 0);
    point_ = new TextLabel({}, TextStyle::Caption);
    point_->setObjectName("tradeOffPoint");
    point_->setWordWrap(true);
    line->addWidget(point_, 1);
    apply_ = new QPushButton(tr("Apply"));
    apply_->setObjectName("applyPoint");
    widgets::setCompact(apply_);
    line->addWidget(apply_);
    body->addWidget(point_line_);
    body->addSpacing(widgets::space::kTight);
    advise_ = new QPushButton(tr("Find better settings"));
    advise_->setObjectName("advise");
    advise_->setToolTip(
        tr("Plan every combination of precision, recompute and micro batch, and list "
           "those that no other beats in both memory and time"));
    body->addWidget(advise_, 0, Qt::AlignLeft);
    advice_state_ = new TextLabel({}, TextStyle::Caption, Role::Muted);
    advice_state_->setWordWrap(true);
    body->addWidget(advice_state_);
    advice_ = new QVBoxLayout;
    advice_->setSpacing(0);
    body->addLayout(advice_);
    column->addLayout(body);
    connect(chart_, &widgets::PaintedView::cursorChanged, this, [this](int point) {
        showPoint(point >= 0 ? order_[static_cast<std::size_t>(point)] : -1);
    });
    connect(apply_, &QPushButton::clicked, this, [this] {
        const plan::Alternative chosen = preview_.curve()[static_cast<std::size_t>(shown_)];
        emit adopted(chosen.overrides, toQString(chosen.change));
    });
    connect(advise_, &QPushButton::clicked, this, [this] { preview_.askAdvice(); });
    connect(&preview_, &PlanPreview::changed, this, [this] {
        chart_->setStale(preview_.isStale());
        updateAdvise();
    });
    connect(&preview_, &PlanPreview::alternativesChanged, this, [this] {
        updateCurve();
        updateAdvice();
    });
    updateCurve();
    updateAdvice();
}

void TradeOffPanel::updateAdvise() {
    advise_->setEnabled(preview_.digest() && !preview_.isStale() && preview_.isComplete() &&
                        !preview_.isAdvising());
}

void TradeOffPanel::updateCurve() {
    const auto& curve = preview_.curve();
    const bool timed = std::all_of(curve.begin(), curve.end(), [](const auto& one) {
        return one.predicted_step_ms.has_value();
    });
    const bool shown = curve.size() > 1;
    header_->setTitle(timed ? tr("Memory against time") : tr("Memory against work"));
    chart_->setVisible(shown);
    point_line_->setVisible(shown);
    state_->setVisible(!shown);
    state_->setText(preview_.curveKnown() ? tr("Computing again frees nothing in this model.")
                                          : tr("Planning with more and more computed again…"));
    order_.clear();
    if (!shown) {
        chart_->setPoints({});
        return;
    }
    // Where no times are predicted the order is still known: each point computes more again.
    const auto cost = [&](int index) {
        return timed ? *curve[static_cast<std::size_t>(index)].predicted_step_ms : index;
    };
    order_.resize(curve.size());
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) { return cost(a) < cost(b); });
    std::vector<widgets::TradeOffPoint> points;
    const int current = currentPoint();
    for (const int index : order_) {
        const plan::Alternative& one = curve[static_cast<std::size_t>(index)];
        const bool end = index == 0 || index + 1 == static_cast<int>(curve.size());
        points.push_back({cost(index), one.peak_bytes,
                          end || index == current ? shortName(one) : QString(), pointText(one),
                          index == current, one.on_front});
    }
    chart_->setAxis(timed ? tr("ms a step") : tr("more computed again →"), timed);
    chart_->setPoints(std::move(points));
    showPoint(current);
}

// Where the draft stands: at an end, or with "auto" at the point that needs most nearly as much.
int TradeOffPanel::currentPoint() const {
    const auto& curve = preview_.curve();
    const std::string& mode = preview_.config().recompute;
    const auto digest = preview_.digest();
    if (mode == "none" || !digest) {
        return 0;
    }
    if (mode == "blocks") {
        return static_cast<int>(curve.size()) - 1;
    }
    const auto away = [&](const plan::Alternative& one) {
        return std::abs(one.peak_bytes - digest->peak_bytes);
    };
    const auto nearest =
        std::min_element(curve.begin(), curve.end(),
                         [&](const auto& a, const auto& b) { return away(a) < away(b); });
    return static_cast<int>(nearest - curve.begin());
}

void TradeOffPanel::showPoint(int index) {
    shown_ = index;
    const auto& curve = preview_.curve();
    const bool valid = index >= 0 && index < static_cast<int>(curve.size());
    apply_->setEnabled(valid && !preview_.isStale());
    point_->setText(valid ? pointText(curve[static_cast<std::size_t>(index)]) : QString());
}

void TradeOffPanel::updateAdvice() {
    widgets::clearLayout(*advice_);
    const auto digest = preview_.digest();
    updateAdvise();
    advice_state_->setVisible(preview_.isAdvising());
    advice_state_->setText(tr("Planning every combination…"));
    std::size_t shown = 0;
    for (const plan::Alternative& one : preview_.advice()) {
        if (!one.on_front || !one.fits || shown++ >= kMostAdvice) {
            continue;
        }
        advice_->addWidget(alternativeRow(
            one, digest ? digest->plan->predicted_step_ms : std::nullopt, tr("Apply"),
            [this, one] { emit adopted(one.overrides, toQString(one.change)); }));
    }
}

} // namespace weft::ui
