// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/live/confusion_panel.h"

#include "ui/bridge/convert.h"
#include "ui/file_dialog.h"
#include "ui/pages/live/checkpoint_choice.h"
#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/icon_button.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/icon.h"
#include "widgets/views/confusion_view.h"
#include "widgets/views/image_grid.h"

#include <QPushButton>
#include <QSaveFile>
#include <QScrollArea>
#include <QScrollBar>
#include <QTextStream>
#include <QVBoxLayout>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextLabel;
using widgets::TextStyle;

constexpr std::size_t kMostImages = 60; // of a cell
constexpr int kRevealed = 80;           // pixels of them that come into view
constexpr int kRevealMs = 500;          // after which whoever scrolls is not disturbed
constexpr int kMostClasses = 64;        // more cells than pixels are of no use

bool write_counts(const Confusion& confusion, const QString& path) {
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly | QIODevice::Text)) {
        return false;
    }
    QTextStream out(&file);
    const auto name = [&](int index) {
        QString text = index < confusion.class_names.size() ? confusion.class_names[index]
                                                            : QString::number(index);
        text.replace('"', "\"\"");
        return '"' + text + '"';
    };
    out << "\"actual \\ said\"";
    for (int said = 0; said < confusion.classes; ++said) {
        out << ',' << name(said);
    }
    out << '\n';
    for (int actual = 0; actual < confusion.classes; ++actual) {
        out << name(actual);
        for (int said = 0; said < confusion.classes; ++said) {
            out << ',' << confusion.cell(actual, said).size();
        }
        out << '\n';
    }
    out.flush();
    return file.commit();
}

} // namespace

ConfusionPanel::ConfusionPanel(RunModel& run, TrialHost& host, SamplePictures& pictures,
                               QWidget* parent)
    : QWidget(parent), run_(run), host_(host), pictures_(pictures) {
    auto* content = new QWidget;
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(12, 8, 12, 8);
    column->setSpacing(8);
    auto* line = new QHBoxLayout;
    checkpoint_ = new CheckpointChoice(run_);
    checkpoint_->setObjectName("confusionCheckpoint");
    line->addWidget(checkpoint_);
    line->addStretch(1);
    form_ = new widgets::SegmentedControl({tr("Counts"), tr("Percent")});
    form_->setCompact(true);
    form_->setObjectName("confusionForm");
    form_->setAccessibleName(tr("What the cells say"));
    line->addWidget(form_);
    column->addLayout(line);
    progress_ = new widgets::ProgressLine;
    column->addWidget(progress_);
    auto* second = new QHBoxLayout;
    summary_ = new TextLabel({}, TextStyle::Caption, Role::Muted);
    summary_->setObjectName("confusionSummary");
    summary_->setWordWrap(true);
    second->addWidget(summary_, 1);
    count_ = new QPushButton;
    count_->setObjectName("confusionCount");
    widgets::setCompact(count_);
    second->addWidget(count_, 0, Qt::AlignTop);
    export_ = widgets::iconButton("export", "confusionExport", tr("Export the confusion matrix"));
    export_->setToolTip(tr("Export as picture or table"));
    second->addWidget(export_, 0, Qt::AlignTop);
    column->addLayout(second);
    view_ = new widgets::ConfusionView;
    view_->setObjectName("confusion");
    column->addWidget(view_);
    cell_ = new TextLabel({}, TextStyle::CaptionStrong);
    cell_->setObjectName("confusionCell");
    cell_->setWordWrap(true);
    column->addWidget(cell_);
    images_ = new widgets::ImageGrid;
    images_->setObjectName("confusionImages");
    images_->setAccessibleName(tr("Samples of the cell"));
    images_->setCellWidth(56);
    images_->setEmptyText({});
    column->addWidget(images_);
    column->addStretch(1);
    auto* whole = new QVBoxLayout(this);
    whole->setContentsMargins(0, 0, 0, 0);
    scroll_ = widgets::verticalScroll(content);
    whole->addWidget(scroll_);
    // The page grows to what its images need in several turns.
    revealing_.setSingleShot(true);
    revealing_.setInterval(kRevealMs);
    connect(scroll_->verticalScrollBar(), &QScrollBar::rangeChanged, this, [this] {
        if (revealing_.isActive()) {
            reveal();
        }
    });

    connect(&run_, &RunModel::reset, this, &ConfusionPanel::onReset);
    connect(checkpoint_, &CheckpointChoice::checkpointChanged, this, [this] {
        updateButton();
        if (isVisible() && !confusion_ && !counting_) {
            count();
        }
    });
    connect(checkpoint_, &QComboBox::activated, this, &ConfusionPanel::count);
    connect(form_, &widgets::SegmentedControl::currentIndexChanged, view_,
            [this](int index) { view_->setPercent(index == 1); });
    connect(count_, &QPushButton::clicked, this, [this] { counting_ ? cancel() : count(); });
    connect(export_, &QPushButton::clicked, this, &ConfusionPanel::exportMatrix);
    connect(view_, &widgets::PaintedView::itemActivated, this, &ConfusionPanel::showCell);
    connect(&host_, &TrialHost::confused, this, &ConfusionPanel::show);
    connect(&host_, &TrialHost::confusionProgress, progress_, &widgets::ProgressLine::setProgress);
    connect(&host_, &TrialHost::failed, this, [this](const QString& kind, const QString& problem) {
        if (kind == "confuse") {
            counting_ = false;
            progress_->setProgress(-1);
            say(problem);
        }
    });
    onReset();
}

void ConfusionPanel::onReset() {
    cancel();
    confusion_.reset();
    view_->setCounts(0, {}, {});
    showCell(-1);
    say(tr("How often each class is said of each, over the validation split of a checkpoint."));
}

void ConfusionPanel::say(const QString& words) {
    summary_->setText(words);
    updateButton();
}

void ConfusionPanel::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (!confusion_ && !counting_ && !checkpoint_->checkpoint().empty()) {
        count();
    }
}

void ConfusionPanel::updateButton() {
    const bool none = checkpoint_->checkpoint().empty();
    const bool fresh = confusion_ && confusion_->checkpoint == checkpoint_->checkpoint();
    count_->setText(counting_ ? tr("Cancel") : confusion_ ? tr("Count again") : tr("Count"));
    count_->setEnabled(counting_ || (!none && !fresh));
    count_->setToolTip(none    ? tr("There is no checkpoint yet")
                       : fresh ? tr("This is what the chosen checkpoint says")
                               : QString());
    form_->setVisible(confusion_ != nullptr);
    view_->setVisible(confusion_ != nullptr);
    export_->setVisible(confusion_ != nullptr);
}

void ConfusionPanel::count() {
    const std::filesystem::path checkpoint = checkpoint_->checkpoint();
    if (checkpoint.empty() || (confusion_ && confusion_->checkpoint == checkpoint)) {
        updateButton();
        return;
    }
    counting_ = true;
    progress_->setProgress(0);
    say(tr("Counting on one core."));
    host_.confuse(checkpoint);
}

void ConfusionPanel::cancel() {
    if (counting_) {
        counting_ = false;
        host_.cancelConfuse();
        progress_->setProgress(-1);
        say(tr("Cancelled."));
    }
}

void ConfusionPanel::show(std::shared_ptr<const Confusion> confusion) {
    counting_ = false;
    progress_->setProgress(-1);
    if (confusion->classes > kMostClasses) {
        say(tr("There are %1 classes; more than %2 have no room here. Step %3: %4 of %5 right.")
                .arg(confusion->classes)
                .arg(kMostClasses)
                .arg(formatCount(confusion->step), formatCount(confusion->right),
                     formatCount(confusion->samples)));
        return;
    }
    std::vector<qint64> counts;
    for (const auto& cell : confusion->cells) {
        counts.push_back(static_cast<qint64>(cell.size()));
    }
    view_->setCounts(confusion->classes, std::move(counts), confusion->class_names);
    confusion_ = std::move(confusion);
    showCell(-1);
    say(tr("Step %1: %2 of %3 right. Choose a cell to see its samples.")
            .arg(formatCount(confusion_->step), formatCount(confusion_->right),
                 formatCount(confusion_->samples)));
}

void ConfusionPanel::showCell(int cell) {
    view_->setSelected(cell);
    images_->setImages({});
    images_->setVisible(cell >= 0);
    cell_->setVisible(cell >= 0);
    if (cell < 0 || !confusion_) {
        return;
    }
    const auto& indices = confusion_->cells[static_cast<std::size_t>(cell)];
    const std::vector<std::int64_t> wanted(
        indices.begin(),
        indices.begin() + static_cast<std::ptrdiff_t>(std::min(indices.size(), kMostImages)));
    const QString name = view_->item(cell).name;
    cell_->setText(indices.size() > kMostImages ? tr("%1. The first %2.").arg(name).arg(kMostImages)
                                                : name);
    pictures_.read(this, wanted, [this, confusion = confusion_](const SampleSet& samples) {
        if (confusion != confusion_ || !images_->isVisibleTo(this)) {
            return;
        }
        std::vector<widgets::GridImage> images;
        for (const SamplePicture& picture : samples.pictures) {
            if (!picture.image.isNull()) {
                images.push_back({picture.image, QString("#%1").arg(picture.index), {}, {}});
            }
        }
        if (images.empty() && !samples.pictures.empty()) {
            cell_->setText(cell_->text() + " " + tr("These samples are no images."));
        } else if (!samples.problem.isEmpty()) {
            cell_->setText(samples.problem);
        }
        images_->setImages(std::move(images));
        revealing_.start();
        QTimer::singleShot(0, this, &ConfusionPanel::reveal);
    });
}

/// The first images of the cell, with as much of the matrix as there is room for.
void ConfusionPanel::reveal() {
    const int below = std::min(images_->height(), kRevealed);
    scroll_->ensureVisible(0, images_->y() + below, 0, widgets::space::kControl);
}

void ConfusionPanel::exportMatrix() {
    const QString path =
        askForPlace(this, {tr("Export the confusion matrix"), FileUse::Export,
                           tr("Picture (*.png);;Vector drawing (*.svg);;Counts (*.csv)"),
                           run_.name() + "-confusion.png"});
    if (path.isEmpty() || confusion_ == nullptr) {
        return; // another run may be shown by now
    }
    const bool written = path.endsWith(".svg")   ? view_->exportSvg(path)
                         : path.endsWith(".csv") ? write_counts(*confusion_, path)
                                                 : view_->exportPng(path);
    if (!written) {
        emit failed(tr("%1 could not be written. Choose another folder.").arg(path));
    }
}

} // namespace weft::ui
