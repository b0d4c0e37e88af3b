// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/data/about_panel.h"

#include "core/data/loader.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/draft/draft.h"
#include "widgets/controls/arranging.h"
#include "widgets/controls/card.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/painting.h"

#include <QEvent>
#include <QGridLayout>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextLabel;
using widgets::TextStyle;

constexpr std::size_t kAboutPanelMostNotes = 20;
constexpr double kNameShare = 0.36; // of the width, at most

/// "28 × 28 × 1, f32"
QString typeText(const ir::Type& type) {
    QStringList extents;
    for (const std::int64_t extent : type.shape) {
        extents << QString::number(extent);
    }
    const QString dtype = toQString(ir::dtype_name(type.dtype));
    return extents.isEmpty() ? dtype : extents.join(QStringLiteral(" × ")) + ", " + dtype;
}

/// "54,000 train, 6,000 validate": of a file of 60,000. Asking a test split that nobody looked at
/// for its size would open it.
QString samplesText(const DataPreview& preview) {
    const data::DataSet& set = preview.set();
    if (preview.split() == DataSplit::Test) {
        return AboutPanel::tr("%1 test").arg(formatCount(preview.facts()->samples));
    }
    const QString train = AboutPanel::tr("%1 train").arg(formatCount(set.train->samples()));
    return set.validation == nullptr ? train
                                     : AboutPanel::tr("%1, %2 validate")
                                           .arg(train, formatCount(set.validation->samples()));
}

/// Long words without a space may be broken after their punctuation; numbers may not.
QString breakable(const QString& text) {
    constexpr QChar kMayBreak(0x200B);
    QString out;
    for (qsizetype i = 0; i < text.size(); ++i) {
        out += text[i];
        const bool in_number = i + 1 < text.size() && text[i] == ',' && text[i + 1].isDigit();
        if (QStringLiteral("/,:;_{}[]=-").contains(text[i]) && !in_number) {
            out += kMayBreak;
        }
    }
    return out;
}

} // namespace

AboutPanel::AboutPanel(Draft& draft, DataPreview& preview, QWidget* parent)
    : QWidget(parent), draft_(draft), preview_(preview) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(new widgets::SectionHeader(tr("About this data")));
    rows_ = new QGridLayout;
    rows_->setContentsMargins(12, 8, 12, 12);
    rows_->setHorizontalSpacing(widgets::space::kGroup);
    rows_->setVerticalSpacing(widgets::space::kTight);
    rows_->setColumnStretch(1, 1);
    column->addLayout(rows_);
    connect(&preview_, &DataPreview::changed, this, &AboutPanel::update);
    connect(&draft_, &Draft::changed, this, &AboutPanel::update);
    update();
}

void AboutPanel::addRow(const QString& name, const QString& value, const QString& how) {
    const int row = rows_->count() / 2; // two labels each
    auto* label = new TextLabel(name, TextStyle::Caption, Role::Muted);
    label->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    label->setWordWrap(true);
    rows_->addWidget(label, row, 0);
    auto* text = new TextLabel(breakable(value), TextStyle::Caption);
    text->setAccessibleName(name + ": " + value);
    text->setWordWrap(true);
    text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    text->setToolTip(how);
    label->setToolTip(how);
    rows_->addWidget(text, row, 1);
}

// Most of the room is for the values: where it is short, names take a second line.
void AboutPanel::fitNames() {
    const QFont font = widgets::Theme::current().font(TextStyle::Caption);
    double longest = 0;
    QList<QWidget*> names;
    for (int row = 0; row < rows_->rowCount(); ++row) {
        if (QLayoutItem* item = rows_->itemAtPosition(row, 0)) {
            auto* name = static_cast<TextLabel*>(item->widget());
            longest = std::max(longest, widgets::textWidth(font, name->text()));
            names << name;
        }
    }
    const int width = static_cast<int>(std::ceil(std::min(longest, kNameShare * this->width())));
    for (QWidget* name : names) {
        name->setFixedWidth(width);
    }
}

void AboutPanel::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    fitNames();
}

void AboutPanel::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        fitNames();
    }
}

void AboutPanel::update() {
    const auto facts = preview_.facts();
    setVisible(facts && facts->problem.isEmpty());
    if (!isVisibleTo(parentWidget())) {
        return;
    }
    widgets::clearLayout(*rows_);
    const data::SampleInfo& info = facts->info;
    addRow(tr("Data"), toQString(info.description));
    addRow(tr("Samples"), samplesText(preview_));
    addRow(tr("Input"), typeText(info.input));
    addRow(tr("Target"),
           info.classes > 0
               ? tr("%1, one of %2").arg(typeText(info.target), formatCount(info.classes))
               : typeText(info.target));
    const bool mixes = data::mixes_classes(preview_.section().at("mix"), info);
    const std::int64_t sample_bytes = data::row_bytes(info, mixes);
    if (draft_.isValid()) {
        const std::int64_t batch = draft_.config().global_batch_size;
        const std::int64_t buffers = draft_.config().prefetch + 1;
        addRow(tr("One batch"),
               tr("%1 for %2 samples")
                   .arg(widgets::formatMemory(sample_bytes * batch), formatCount(batch)),
               (mixes ? tr("%1 bytes of input, %2 of target and %4 of weight, second class and "
                           "share for each of %3 samples")
                      : tr("%1 bytes of input, %2 of target and %4 of weight for each of %3 "
                           "samples"))
                   .arg(formatCount(info.input.bytes()), formatCount(info.target.bytes()),
                        formatCount(batch),
                        formatCount(sample_bytes - info.input.bytes() - info.target.bytes())));
        addRow(
            tr("Batches ahead"),
            tr("%1 for %2 buffers")
                .arg(widgets::formatMemory(sample_bytes * batch * buffers), formatCount(buffers)),
            tr("the batch that is trained on and %1 prepared ahead (prefetch)").arg(buffers - 1));
    } else {
        addRow(tr("One sample"), widgets::formatMemory(sample_bytes));
    }
    addRow(tr("Kept in memory"), widgets::formatMemory(facts->cache_bytes),
           tr("decoded samples that stay in memory while a run trains"));
    addRow(tr("Fingerprint"), facts->fingerprint,
           tr("recorded with a run and compared when it is resumed"));
    const auto& notes = preview_.notes();
    for (std::size_t i = 0; i < std::min(notes.size(), kAboutPanelMostNotes); ++i) {
        addRow(i == 0 ? tr("Notes") : QString(), toQString(notes[i]));
    }
    if (notes.size() > kAboutPanelMostNotes) {
        addRow({}, tr("and %1 more")
                       .arg(formatCount(static_cast<qint64>(notes.size() - kAboutPanelMostNotes))));
    }
    fitNames();
}

} // namespace weft::ui
