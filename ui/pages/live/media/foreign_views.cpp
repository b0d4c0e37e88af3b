// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/live/media/foreign_views.h"

#include "ui/bridge/convert.h"
#include "ui/pages/live/media/media_panel.h"
#include "ui/pages/live/scalar_grid.h"
#include "widgets/controls/arranging.h"
#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/text_label.h"

#include <QScrollArea>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <array>

namespace weft::ui {
namespace {

using train::MediaKind;
using widgets::Role;
using widgets::TextLabel;
using widgets::TextStyle;

enum ForeignView { ScalarView, FirstKindView };
enum ForeignSheet { ScalarGridSheet, MediaSheet, UnshownSheet };

/// In the order of their views, which follow that of the scalars.
constexpr std::array kMediaKinds = {MediaKind::image, MediaKind::histogram, MediaKind::text,
                                    MediaKind::audio, MediaKind::pr_curve};
constexpr int kUnshownView = FirstKindView + static_cast<int>(kMediaKinds.size());

bool holds(const train::MediaIndex& index, MediaKind kind) {
    return std::any_of(index.series.begin(), index.series.end(), [&](const auto& series) {
        return series.kind == kind && !series.places.empty();
    });
}

} // namespace

ForeignViews::ForeignViews(RunModel& run, QWidget* parent)
    : QWidget(parent), run_(run), media_(run) {
    setObjectName("foreignViews");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    line_ = new widgets::Surface;
    auto* line = new QHBoxLayout(line_);
    line->setContentsMargins(12, 6, 12, 6);
    view_ =
        new widgets::SegmentedControl({tr("Scalars"), tr("Pictures"), tr("Histograms"), tr("Texts"),
                                       tr("Sounds"), tr("Precision and recall"), tr("Not shown")});
    view_->setObjectName("foreignView");
    view_->setAccessibleName(tr("Show of this run"));
    view_->setCompact(true);
    line->addWidget(view_);
    line->addStretch(1);
    column->addWidget(line_);
    pages_ = new QStackedWidget;
    auto* scalars = new ScalarGrid(run_);
    connect(scalars, &ScalarGrid::exported, this, &ForeignViews::exported);
    pages_->addWidget(scalars);
    panel_ = new MediaPanel(media_);
    connect(panel_, &MediaPanel::exported, this, &ForeignViews::exported);
    pages_->addWidget(panel_);
    auto* unshown = new widgets::Surface;
    unshown->setObjectName("unshownPanel");
    unshown_ = new QVBoxLayout(unshown);
    unshown_->setContentsMargins(widgets::space::kMargin, widgets::space::kGroup,
                                 widgets::space::kMargin, widgets::space::kMargin);
    unshown_->setSpacing(widgets::space::kTight);
    pages_->addWidget(widgets::verticalScroll(unshown));
    column->addWidget(pages_, 1);
    connect(view_, &widgets::SegmentedControl::currentIndexChanged, this, &ForeignViews::showView);
    connect(&media_, &MediaFolder::reset, this, [this] {
        fresh_ = true;
        view_->setCurrentIndex(ScalarView);
        updateViews();
    });
    connect(&media_, &MediaFolder::changed, this, &ForeignViews::updateViews);
    updateViews();
}

void ForeignViews::updateViews() {
    const train::MediaIndex& index = media_.index();
    std::array<bool, kUnshownView + 1> there{};
    there[ScalarView] = true;
    for (std::size_t i = 0; i < kMediaKinds.size(); ++i) {
        there[FirstKindView + i] = holds(index, kMediaKinds[i]);
    }
    there[kUnshownView] = !index.unshown.empty() || !index.problems.empty();
    if (!there[static_cast<std::size_t>(view_->currentIndex())]) {
        view_->setCurrentIndex(ScalarView);
    }
    for (int view = 0; view <= kUnshownView; ++view) {
        view_->setSegmentVisible(view, there[static_cast<std::size_t>(view)]);
    }
    line_->setVisible(std::count(there.begin(), there.end(), true) > 1);
    showUnshown();
    // A run without scalars begins with what it has.
    const bool looked = !index.series.empty() || !index.unshown.empty();
    if (fresh_ && looked && index.scalars == 0) {
        const auto first = std::find(there.begin() + FirstKindView, there.end(), true);
        view_->setCurrentIndex(static_cast<int>(first - there.begin()));
    }
    fresh_ = fresh_ && !looked;
}

void ForeignViews::showView(int view) {
    if (view >= FirstKindView && view < kUnshownView) {
        panel_->setKind(kMediaKinds[static_cast<std::size_t>(view - FirstKindView)]);
    }
    pages_->setCurrentIndex(view == ScalarView     ? ScalarGridSheet
                            : view == kUnshownView ? UnshownSheet
                                                   : MediaSheet);
}

void ForeignViews::showUnshown() {
    widgets::clearLayout(*unshown_);
    const auto add = [this](const QString& text, TextStyle style, Role role) {
        auto* label = new TextLabel(text, style, role);
        label->setWordWrap(true);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
        unshown_->addWidget(label);
    };
    for (const train::UnshownData& one : media_.index().unshown) {
        QString what = toQString(one.what);
        what[0] = what[0].toUpper();
        const QString count = tr("%n value(s)", nullptr, static_cast<int>(one.count));
        add(one.tag.empty() ? tr("%1: %2").arg(what, count)
                            : tr("%1 of %2: %3").arg(what, toQString(one.tag), count),
            TextStyle::Strong, Role::Text);
        add(toQString(one.reason), TextStyle::Caption, Role::Muted);
        unshown_->addSpacing(widgets::space::kControl);
    }
    for (const std::string& problem : media_.index().problems) {
        add(toQString(problem), TextStyle::Caption, Role::Warning);
    }
    unshown_->addStretch(1);
}

} // namespace weft::ui
