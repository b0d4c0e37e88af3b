// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/data/split_panel.h"

#include "ui/bridge/convert.h"
#include "ui/bridge/draft/draft.h"
#include "ui/forms/form_source.h"
#include "ui/pages/data/editor_panel.h"
#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/text_label.h"

#include <QDoubleSpinBox>
#include <QHBoxLayout>
#include <QSignalBlocker>
#include <QSlider>
#include <QVBoxLayout>

#include <cmath>
#include <utility>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextStyle;

enum SplitKind { ShareKind, OwnKind, NoneKind };
constexpr double kLargestPercent = 90; // as the field allows
constexpr int kSliderPercent = 50;     // more is typed, not dragged
constexpr double kSplitPanelFirstShare = 0.1;

/// What the draft says of validation; the default share where it says nothing.
config::Json validationOf(const Draft& draft) {
    const config::Json& document = draft.document();
    if (document.is_object() && document.contains("data") && document["data"].is_object() &&
        document["data"].contains("validation")) {
        return document["data"]["validation"];
    }
    return {{"split", kSplitPanelFirstShare}};
}

} // namespace

SplitPanel::SplitPanel(FormSource& source, Draft& draft, DataPreview& preview, QWidget* parent)
    : QWidget(parent), source_(source), draft_(draft), preview_(preview) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(new widgets::SectionHeader(tr("Validation")));
    auto* room = new QVBoxLayout;
    room->setContentsMargins(12, 8, 12, 12);
    room->setSpacing(widgets::space::kControl);
    kind_ = new widgets::SegmentedControl({tr("A share"), tr("Own source"), tr("None")});
    kind_->setObjectName("splitKind");
    kind_->setAccessibleName(tr("Where validation samples come from"));
    kind_->setCompact(true);
    room->addWidget(kind_, 0, Qt::AlignLeft);
    room->addWidget(createShare());
    says_ = new widgets::TextLabel({}, TextStyle::Caption, Role::Muted);
    says_->setObjectName("splitSays");
    says_->setWordWrap(true);
    room->addWidget(says_);
    column->addLayout(room);
    own_place_ = new QVBoxLayout;
    column->addLayout(own_place_);
    connect(kind_, &widgets::SegmentedControl::currentIndexChanged, this, &SplitPanel::choose);
    connect(&draft_, &Draft::changed, this, &SplitPanel::update);
    connect(&preview_, &DataPreview::changed, this, &SplitPanel::describe);
    update();
}

QWidget* SplitPanel::createShare() {
    line_ = new QWidget;
    auto* row = new QHBoxLayout(line_);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(widgets::space::kControl);
    slider_ = new QSlider(Qt::Horizontal);
    slider_->setObjectName("splitSlider");
    slider_->setAccessibleName(tr("Share of the training samples for validation, in percent"));
    slider_->setRange(1, kSliderPercent);
    slider_->setTracking(false); // a drag is one edit
    row->addWidget(slider_, 1);
    percent_ = new QDoubleSpinBox;
    percent_->setObjectName("splitPercent");
    percent_->setAccessibleName(tr("Share of the training samples for validation"));
    percent_->setRange(0, kLargestPercent);
    percent_->setDecimals(1);
    percent_->setSuffix(tr(" %"));
    percent_->setKeyboardTracking(false);
    row->addWidget(percent_);
    connect(slider_, &QSlider::valueChanged, this, [this](int value) { setShare(value); });
    connect(slider_, &QSlider::sliderMoved, this, [this](int value) {
        const QSignalBlocker blocker(percent_);
        percent_->setValue(value);
    });
    connect(percent_, &QDoubleSpinBox::valueChanged, this, &SplitPanel::setShare);
    return line_;
}

void SplitPanel::setShare(double percent) {
    draft_.setField("data.validation", {{"split", std::round(percent * 10.0) / 1000.0}});
}

void SplitPanel::choose(int kind) {
    const config::Json now = validationOf(draft_);
    if (kind == ShareKind) {
        own_ = now.is_object() && now.contains("type") ? now : own_;
        draft_.setField("data.validation", {{"split", share_}});
    } else if (kind == OwnKind) {
        // The same kind of source as train, to be pointed at other files.
        const config::Json& train = draft_.document()["data"]["train"];
        draft_.setField("data.validation", own_.is_null() ? train : own_);
    } else {
        own_ = now.is_object() && now.contains("type") ? now : own_;
        draft_.setField("data.validation", nullptr);
    }
}

void SplitPanel::update() {
    const config::Json now = validationOf(draft_);
    const bool own = now.is_object() && now.contains("type");
    const QSignalBlocker block_kind(kind_);
    kind_->setCurrentIndex(now.is_null() ? NoneKind : own ? OwnKind : ShareKind);
    line_->setVisible(!now.is_null() && !own);
    showOwn(own);
    if (now.is_object() && now.contains("split") && now["split"].is_number()) {
        share_ = now["split"].get<double>();
        const QSignalBlocker block_slider(slider_);
        const QSignalBlocker block_percent(percent_);
        slider_->setValue(static_cast<int>(std::lround(share_ * 100)));
        percent_->setValue(share_ * 100);
    }
    describe();
}

/// A source of its own has the settings of any source.
void SplitPanel::showOwn(bool own) {
    if (own == (own_editor_ != nullptr)) {
        return;
    }
    if (own) {
        config::Field field = *source_.field("/data/train");
        field.name = "validation";
        field.help = "The validation samples.";
        own_editor_ = new EditorPanel(source_, std::move(field), "/data/validation", {});
        own_place_->addWidget(own_editor_);
    } else {
        own_editor_->hide();
        own_editor_->deleteLater(); // one of its own controls may have asked for this
        own_editor_ = nullptr;
    }
}

void SplitPanel::describe() {
    const bool ready = preview_.state() == DataPreview::State::Ready;
    QString text;
    if (kind_->currentIndex() == NoneKind) {
        text = tr("Nothing judges the run while it trains: no best checkpoint, no early stop.");
    } else if (ready && preview_.set().validation != nullptr) {
        text = tr("%1 samples train, %2 validate")
                   .arg(formatCount(preview_.set().train->samples()),
                        formatCount(preview_.set().validation->samples()));
        if (kind_->currentIndex() == ShareKind) {
            text += preview_.set().train->info().input.dtype == ir::DType::i32
                        ? tr("; the end of each sixteenth of the text")
                        : tr("; of every class alike, chosen by the seed");
        }
    }
    says_->setText(text);
    says_->setVisible(!text.isEmpty());
}

} // namespace weft::ui
