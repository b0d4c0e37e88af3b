// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/live/sample_look/attention_part.h"

#include "ui/bridge/convert.h"
#include "ui/pages/live/sample_look/place_names.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/style.h"
#include "widgets/maps/channel_view.h"
#include "widgets/maps/matrix_view.h"
#include "widgets/maps/patch_view.h"
#include "widgets/maps/value_colour.h"

#include <QComboBox>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include <algorithm>
#include <numeric>

namespace weft::ui {
namespace {

constexpr int kPatchWidth = 220;

} // namespace

AttentionPart::AttentionPart(QWidget* parent) : QWidget(parent), maps_job_(this), head_job_(this) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(widgets::space::kControl);
    auto* line = new QHBoxLayout;
    line->setSpacing(widgets::space::kControl);
    heads_ = new QComboBox;
    heads_->setObjectName("lookHeads");
    heads_->setAccessibleName(tr("Head of attention"));
    widgets::setCompact(heads_);
    line->addWidget(heads_);
    about_ = new widgets::TextLabel({}, widgets::TextStyle::Caption, widgets::Role::Muted);
    about_->setObjectName("lookAttention");
    about_->setWordWrap(true);
    line->addWidget(about_, 1);
    column->addLayout(line);
    small_ = new widgets::ChannelView;
    small_->setObjectName("lookSmallHeads");
    small_->setAccessibleName(tr("All heads"));
    small_->setTogether(true);
    small_->setNoun(tr("head"));
    small_->setTileWidth(56);
    column->addWidget(small_);
    auto* maps = new QHBoxLayout;
    maps->setSpacing(widgets::space::kGroup);
    matrix_ = new widgets::MatrixView;
    matrix_->setObjectName("lookWeights");
    matrix_->setAccessibleName(tr("Weights of attention"));
    maps->addWidget(matrix_, 3);
    picture_ = new QWidget;
    auto* beside = new QVBoxLayout(picture_);
    beside->setContentsMargins(0, 0, 0, 0);
    looks_ = new widgets::TextLabel({}, widgets::TextStyle::Caption, widgets::Role::Muted);
    looks_->setObjectName("lookFrom");
    looks_->setWordWrap(true);
    beside->addWidget(looks_);
    patches_ = new widgets::PatchView;
    patches_->setObjectName("lookPatches");
    patches_->setAccessibleName(tr("Weights over the picture"));
    beside->addWidget(patches_, 1);
    picture_->setFixedWidth(kPatchWidth);
    maps->addWidget(picture_);
    column->addLayout(maps, 1);
    connect(heads_, &QComboBox::currentIndexChanged, this, &AttentionPart::showHead);
    connect(small_, &widgets::ChannelView::itemActivated, this,
            [this](int head) { heads_->setCurrentIndex(head + 1); });
    const auto choose = [this](int query) {
        query_ = query;
        matrix_->setChosenRow(query);
        showPatches();
    };
    connect(matrix_, &widgets::MatrixView::itemActivated, this,
            [this, choose](int cell) { choose(cell / std::max(1, matrix_->matrix().columns)); });
    connect(patches_, &widgets::PatchView::itemActivated, this, choose);
    const auto point = [this](int cell) {
        const int columns = std::max(1, matrix_->matrix().columns);
        emit pointed(cell < 0 ? QString() : wordsOf(cell / columns, cell % columns));
    };
    connect(matrix_, &widgets::MatrixView::itemHovered, this, point);
    connect(matrix_, &widgets::MatrixView::cursorChanged, this, point);
    const auto pointPatch = [this](int key) {
        emit pointed(key < 0 ? QString() : wordsOf(query_, key));
    };
    connect(patches_, &widgets::PatchView::itemHovered, this, pointPatch);
    connect(patches_, &widgets::PatchView::cursorChanged, this, pointPatch);
}

const train::AttentionLook& AttentionPart::layer() const {
    return looked_->look.attention[static_cast<std::size_t>(at_)];
}

void AttentionPart::clear() {
    maps_job_.drop();
    head_job_.drop();
    looked_.reset();
    query_ = 0;
    const QSignalBlocker quiet(heads_);
    heads_->clear();
}

void AttentionPart::showLayer(std::shared_ptr<const LookedInside> looked, int at) {
    looked_ = std::move(looked);
    at_ = at;
    const train::AttentionLook& one = layer();
    names_ = placeNames(*looked_, one.keys);
    about_->setText(one.is_masked()
                        ? tr("Each row is a place that looks, its weights add up to 1. Hatched: "
                             "places that it does not see.")
                        : tr("Each row is a place that looks, its weights add up to 1."));
    picture_->setVisible(arePatches(looked_->look, one.keys) && one.queries == one.keys);
    query_ = std::clamp(query_, 0, static_cast<int>(one.queries) - 1);
    fillHeads();
    head_job_.drop(); // of the layer before
    // What was there stays until it is replaced: nothing jumps while one draws.
    maps_job_.start(
        [look = looked_, at](const std::stop_token& stop) {
            return headMaps(look->look.attention[static_cast<std::size_t>(at)], stop);
        },
        [this](std::optional<HeadMaps> maps) {
            if (maps) {
                maps_ = *std::move(maps);
                small_->setChannels({maps_.rows, maps_.columns, static_cast<int>(layer().heads),
                                     std::move(maps_.small)});
                showHead();
            }
        });
}

void AttentionPart::fillHeads() {
    const auto heads = static_cast<int>(layer().heads);
    if (heads_->count() == heads + 1) {
        return;
    }
    const QSignalBlocker quiet(heads_);
    heads_->clear();
    heads_->addItem(tr("Mean of %n head(s)", nullptr, heads));
    for (int head = 0; head < heads; ++head) {
        heads_->addItem(tr("Head %1").arg(head));
    }
}

void AttentionPart::showHead() {
    if (looked_ == nullptr) {
        return;
    }
    const int head = heads_->currentIndex() - 1;
    small_->setChosen(head);
    if (head < 0) {
        head_job_.drop();
        showWeights(maps_.mean);
        return;
    }
    head_job_.start(
        [look = looked_, at = at_, head] {
            return look->look.attention[static_cast<std::size_t>(at)].weights(head);
        },
        [this](std::vector<float> weights) { showWeights(std::move(weights)); });
}

void AttentionPart::showWeights(std::vector<float> weights) {
    const train::AttentionLook& one = layer();
    if (std::ssize(weights) != one.queries * one.keys) {
        return; // of the layer before; its own are on their way
    }
    weights_ = weights;
    widgets::NamedMatrix shown;
    shown.rows = static_cast<int>(one.queries);
    shown.columns = static_cast<int>(one.keys);
    shown.most = widgets::largestSize(weights);
    shown.values = std::move(weights);
    if (one.is_masked()) {
        shown.first.assign(one.first.begin(), one.first.end());
        shown.end.assign(one.end.begin(), one.end.end());
    }
    if (one.queries == one.keys) {
        shown.row_names = names_;
    }
    shown.column_names = names_;
    shown.square = true;
    shown.rooted = true;
    matrix_->setMatrix(std::move(shown),
                       [this](int query, int key) { return wordsOf(query, key); });
    matrix_->setChosenRow(picture_->isVisibleTo(this) ? query_ : -1);
    showPatches();
}

void AttentionPart::showPatches() {
    if (looked_ == nullptr || !picture_->isVisibleTo(this) || weights_.empty()) {
        return;
    }
    const train::PatchGrid& grid = *looked_->look.patches;
    const auto keys = static_cast<std::size_t>(layer().keys);
    widgets::Patches shown;
    shown.rows = static_cast<int>(grid.rows);
    shown.columns = static_cast<int>(grid.columns);
    shown.before = static_cast<int>(grid.before);
    shown.picture = looked_->picture;
    const auto first =
        weights_.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(query_) * keys);
    shown.weights.assign(first, first + static_cast<std::ptrdiff_t>(keys));
    for (int key = 0; key < static_cast<int>(keys); ++key) {
        shown.words.push_back(wordsOf(query_, key));
    }
    shown.chosen = query_;
    patches_->setPatches(std::move(shown));
    looks_->setText(
        tr("What %1 looks at; a click chooses another.")
            .arg(query_ < grid.before ? tr("the class token") : placeWords(names_, false, query_)));
}

QString AttentionPart::wordsOf(int query, int key) const {
    if (looked_ == nullptr) {
        return {};
    }
    const train::AttentionLook& one = layer();
    const bool text = !looked_->look.tokens.empty();
    const QString from = placeWords(one.queries == one.keys ? names_ : QStringList(), text, query);
    const QString to = placeWords(names_, text, key);
    const auto at = static_cast<std::size_t>(query * one.keys + key);
    if (query >= one.queries || key >= one.keys || at >= weights_.size()) {
        return {};
    }
    return one.sees(query, key)
               ? tr("%1 looks at %2: %3").arg(from, to, widgets::formatNumber(double(weights_[at])))
               : tr("%1 does not see %2").arg(from, to);
}

} // namespace weft::ui
