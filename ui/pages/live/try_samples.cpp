// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/live/try_samples.h"

#include "widgets/controls/text_label.h"
#include "widgets/look/style.h"
#include "widgets/views/image_grid.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QSpinBox>

namespace weft::ui {
namespace {

constexpr int kWalkPictures = 9;
constexpr int kWalkColumns = 3;
constexpr int kWalkCell = 92; // at text size 1

QSpinBox* addSeed(QHBoxLayout& line, const QString& name, const QString& tip,
                  const QString& object_name, int value) {
    auto* field = new QSpinBox;
    field->setRange(0, 1000000);
    field->setValue(value);
    field->setObjectName(object_name);
    field->setAccessibleName(name);
    field->setToolTip(tip);
    widgets::setCompact(field);
    auto* label = new widgets::TextLabel(name, widgets::TextStyle::Caption, widgets::Role::Muted);
    label->setBuddy(field);
    line.addWidget(label);
    line.addWidget(field, 1);
    return field;
}

} // namespace

TrySamples::TrySamples(QWidget* parent) : QWidget(parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(8);
    auto* seeds = new QHBoxLayout;
    seeds->setSpacing(8);
    const QString tip = tr("The first sample that “weft generate” makes of this seed");
    from_ = addSeed(*seeds, tr("From seed"), tip, "tryFromSeed", 0);
    to_ = addSeed(*seeds, tr("To seed"), tip, "tryToSeed", 1);
    column->addLayout(seeds);
    class_line_ = new QWidget;
    auto* line = new QHBoxLayout(class_line_);
    line->setContentsMargins(0, 0, 0, 0);
    line->setSpacing(8);
    class_ = new QComboBox;
    class_->setObjectName("tryClass");
    class_->setAccessibleName(tr("Class"));
    widgets::setCompact(class_);
    auto* name =
        new widgets::TextLabel(tr("Class"), widgets::TextStyle::Caption, widgets::Role::Muted);
    name->setBuddy(class_);
    line->addWidget(name);
    line->addWidget(class_, 1);
    column->addWidget(class_line_);
    grid_ = new widgets::ImageGrid;
    grid_->setObjectName("tryPictures");
    grid_->setAccessibleName(tr("What the model makes on the way"));
    grid_->setColumns(kWalkColumns);
    grid_->setCellWidth(static_cast<int>(kWalkCell * widgets::Theme::current().fontScale()));
    grid_->setEmptyText({});
    column->addWidget(grid_);
    setClasses({});
    connect(from_, &QSpinBox::valueChanged, this, &TrySamples::changed);
    connect(to_, &QSpinBox::valueChanged, this, &TrySamples::changed);
    connect(class_, &QComboBox::currentIndexChanged, this, &TrySamples::changed);
}

void TrySamples::setClasses(const QStringList& names) {
    const QSignalBlocker quiet(class_);
    class_->clear();
    class_->addItems(names);
    class_line_->setVisible(!names.isEmpty());
    grid_->setImages({});
}

SampleWalk TrySamples::walk() const {
    SampleWalk out;
    out.from = static_cast<std::uint64_t>(from_->value());
    out.to = static_cast<std::uint64_t>(to_->value());
    out.pictures = kWalkPictures;
    out.label = std::max(class_->currentIndex(), 0);
    return out;
}

void TrySamples::setPictures(const std::vector<QImage>& pictures) {
    std::vector<widgets::GridImage> images;
    const auto last = static_cast<double>(std::max<std::size_t>(pictures.size(), 2) - 1);
    for (std::size_t i = 0; i < pictures.size(); ++i) {
        widgets::GridImage image;
        image.image = pictures[i];
        image.caption = i == 0 ? tr("seed %1").arg(from_->value())
                        : i + 1 == pictures.size()
                            ? tr("seed %1").arg(to_->value())
                            : QString::number(static_cast<double>(i) / last, 'f', 2);
        images.push_back(std::move(image));
    }
    grid_->setImages(std::move(images));
}

} // namespace weft::ui
