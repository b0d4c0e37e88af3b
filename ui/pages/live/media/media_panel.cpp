// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/live/media/media_panel.h"

#include "ui/bridge/convert.h"
#include "ui/pages/live/media/media_card.h"
#include "widgets/controls/card.h"
#include "widgets/controls/text_label.h"

#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

constexpr std::size_t kCardsAtFirst = 12; // of a run with hundreds of tags

} // namespace

MediaPanel::MediaPanel(MediaFolder& media, QWidget* parent)
    : QWidget(parent), media_(media), most_(kCardsAtFirst) {
    setObjectName("mediaPanel");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    header_ = new widgets::SectionHeader({});
    filter_ = new QLineEdit;
    filter_->setObjectName("mediaFilter");
    filter_->setPlaceholderText(tr("Filter tags"));
    filter_->setAccessibleName(tr("Filter tags"));
    filter_->setClearButtonEnabled(true);
    filter_->setMaximumWidth(200);
    header_->addControl(filter_);
    column->addWidget(header_);
    auto* content = new widgets::Surface;
    column_ = new QVBoxLayout(content);
    column_->setContentsMargins(widgets::space::kMargin, widgets::space::kGroup,
                                widgets::space::kMargin, widgets::space::kMargin);
    column_->setSpacing(widgets::space::kSection);
    none_ = new widgets::TextLabel({}, widgets::TextStyle::Body, widgets::Role::Muted);
    none_->setWordWrap(true);
    column_->addWidget(none_);
    more_ = new QPushButton;
    more_->setObjectName("moreMedia");
    connect(more_, &QPushButton::clicked, this, [this] {
        most_ += kCardsAtFirst;
        update();
    });
    column_->addWidget(more_, 0, Qt::AlignHCenter);
    column_->addStretch(1);
    column->addWidget(widgets::verticalScroll(content), 1);
    connect(filter_, &QLineEdit::textChanged, this, &MediaPanel::update);
    connect(&media_, &MediaFolder::reset, this, [this] {
        filter_->clear();
        forget();
    });
    connect(&media_, &MediaFolder::changed, this, &MediaPanel::update);
}

void MediaPanel::setKind(train::MediaKind kind) {
    if (!shown_ || kind != kind_) {
        forget();
        kind_ = kind;
        shown_ = true;
    }
    update();
}

void MediaPanel::forget() {
    for (MediaCard* card : cards_) {
        delete card;
    }
    cards_.clear();
    most_ = kCardsAtFirst;
    shown_ = false;
}

// Cards of tags that stay are kept, with the step that was chosen in them.
void MediaPanel::update() {
    if (!shown_) {
        return;
    }
    std::vector<const train::MediaSeries*> wanted;
    std::size_t all = 0;
    for (const train::MediaSeries& series : media_.index().series) {
        if (series.kind != kind_ || series.places.empty()) {
            continue;
        }
        ++all;
        if (toQString(series.tag).contains(filter_->text(), Qt::CaseInsensitive)) {
            wanted.push_back(&series);
        }
    }
    const std::size_t hidden = wanted.size() - std::min(wanted.size(), most_);
    wanted.resize(wanted.size() - hidden);
    std::vector<MediaCard*> old = std::move(cards_);
    cards_.clear();
    for (const train::MediaSeries* series : wanted) {
        const auto same = std::find_if(old.begin(), old.end(), [&](const MediaCard* card) {
            return card->tag() == series->tag;
        });
        if (same == old.end()) {
            addCard(*series);
        } else {
            (*same)->setSeries(*series);
            cards_.push_back(*same);
            old.erase(same);
        }
    }
    for (MediaCard* gone : old) {
        delete gone;
    }
    for (std::size_t i = 0; i < cards_.size(); ++i) {
        column_->insertWidget(static_cast<int>(i), cards_[i]);
    }
    header_->setTitle(tr("%n tag(s)", nullptr, static_cast<int>(all)));
    none_->setText(tr("Change the filter: no tag contains “%1”.").arg(filter_->text()));
    none_->setVisible(wanted.empty());
    more_->setVisible(hidden > 0);
    more_->setText(tr("Show more tags (%1 left)").arg(hidden));
}

void MediaPanel::addCard(const train::MediaSeries& series) {
    auto* card = new MediaCard(media_.folder(), series);
    connect(card, &MediaCard::exported, this, &MediaPanel::exported);
    cards_.push_back(card);
}

} // namespace weft::ui
