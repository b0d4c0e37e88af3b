// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/live/sample_panel.h"

#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"
#include "widgets/controls/card.h"
#include "widgets/controls/messages.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/style.h"
#include "widgets/views/image_grid.h"
#include "widgets/views/step_dots.h"

#include <QComboBox>
#include <QVBoxLayout>

namespace weft::ui {
namespace {

constexpr int kSampleCell = 92;     // at text size 1
constexpr int kSmallestWidth = 240; // at text size 1
constexpr double kTwoColumnsScale = 1.2;

} // namespace

SamplePanel::SamplePanel(RunModel& run, SamplePictures& pictures, QWidget* parent)
    : QWidget(parent), run_(run), pictures_(pictures) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(12, 8, 12, 8);
    column->setSpacing(8);
    auto* line = new QHBoxLayout;
    step_ = new widgets::TextLabel({}, widgets::TextStyle::Caption, widgets::Role::Muted);
    line->addWidget(step_);
    steps_ = new widgets::StepDots;
    steps_->setObjectName("sampleStep");
    steps_->setAccessibleName(tr("Step of the samples"));
    line->addWidget(steps_, 1);
    right_ = new widgets::TextLabel({}, widgets::TextStyle::Caption, widgets::Role::Muted);
    line->addWidget(right_);
    column->addLayout(line);
    beside_line_ = new QWidget;
    auto* beside = new QHBoxLayout(beside_line_);
    beside->setContentsMargins(0, 0, 0, 0);
    beside->setSpacing(8);
    beside_ = new QComboBox;
    beside_->setObjectName("sampleBeside");
    beside_->setAccessibleName(tr("Step to compare with"));
    widgets::setCompact(beside_);
    auto* name = new widgets::TextLabel(tr("&Compare with"), widgets::TextStyle::Caption,
                                        widgets::Role::Muted);
    name->setBuddy(beside_);
    beside->addWidget(name);
    beside->addWidget(beside_, 1);
    column->addWidget(beside_line_);
    grid_ = new widgets::ImageGrid;
    grid_->setObjectName("samples");
    grid_->setNotesExpected(true);
    grid_->setEmptyText({});
    pictures_area_ = widgets::verticalScroll(grid_);
    column->addWidget(pictures_area_, 1);
    words_ = new SampleWords;
    column->addWidget(words_, 1);
    hint_ = new widgets::EmptyState;
    column->addWidget(hint_, 1);
    connect(&run_, &RunModel::reset, this, &SamplePanel::onReset);
    connect(&run_, &RunModel::sampleAdded, this, &SamplePanel::updateSteps);
    connect(&run_, &RunModel::stepsRewound, this, &SamplePanel::updateSteps);
    connect(steps_, &widgets::StepDots::chosenChanged, this, &SamplePanel::readSamples);
    connect(beside_, &QComboBox::activated, this, &SamplePanel::readSamples);
    fitText();
    onReset();
}

// Large text needs wider pictures for the words below them.
void SamplePanel::fitText() {
    const double scale = widgets::Theme::current().fontScale();
    grid_->setColumns(scale > kTwoColumnsScale ? 2 : 3);
    grid_->setCellWidth(static_cast<int>(kSampleCell * scale));
    setMinimumWidth(static_cast<int>(kSmallestWidth * scale));
}

void SamplePanel::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        fitText();
    }
}

void SamplePanel::onReset() {
    wanted_.clear();
    grid_->setImages({});
    right_->setText({});
    steps_->setSteps({});
    updateSteps();
}

void SamplePanel::updateSteps() {
    std::vector<qint64> steps;
    for (const train::SampleEvent& sample : run_.samples()) {
        steps.push_back(sample.step);
    }
    const bool any = !steps.empty();
    steps_->setVisible(any);
    step_->setVisible(any);
    updateBeside();
    if (!any) {
        say(hintWithout());
    }
    steps_->setSteps(std::move(steps));
}

// The steps are all there is to compare with; the choice stays.
void SamplePanel::updateBeside() {
    const QVariant chosen = beside_->currentData();
    const QSignalBlocker quiet(beside_);
    beside_->clear();
    beside_->addItem(tr("no other step"), -1);
    for (const train::SampleEvent& sample : run_.samples()) {
        beside_->addItem(tr("step %1").arg(formatCount(sample.step)),
                         static_cast<qlonglong>(sample.step));
    }
    beside_->setCurrentIndex(std::max(0, beside_->findData(chosen)));
}

QString SamplePanel::hintWithout() const {
    const bool configured = !run_.isEmpty() && !run_.isForeign();
    if (configured && run_.config().section("evaluation").value("samples", 1) == 0) {
        return tr("This run keeps no samples: none are asked for at its evaluations.");
    }
    if (!run_.finished()) {
        return tr("What the network says of the same validation samples appears here after each "
                  "evaluation.");
    }
    return tr("This run kept no samples: it has no validation data, or its model says nothing of "
              "single samples.");
}

void SamplePanel::say(const QString& hint) {
    hint_->setText(hint);
    hint_->setVisible(!hint.isEmpty());
    pictures_area_->hide();
    words_->hide();
    beside_line_->hide();
}

void SamplePanel::readSamples() {
    const int chosen = steps_->chosen();
    if (chosen < 0 || static_cast<std::size_t>(chosen) >= run_.samples().size()) {
        return;
    }
    const qint64 step = run_.samples()[static_cast<std::size_t>(chosen)].step;
    step_->setText(tr("step %1").arg(formatCount(step)));
    std::vector<qint64> steps{step};
    std::vector<std::filesystem::path> paths;
    if (const qint64 other = beside_->currentData().toLongLong(); other >= 0 && other != step) {
        steps.push_back(other);
    }
    for (const qint64 one : steps) {
        const auto found =
            std::find_if(run_.samples().begin(), run_.samples().end(),
                         [one](const train::SampleEvent& sample) { return sample.step == one; });
        paths.push_back(run_.folder() / found->path);
    }
    wanted_ = paths;
    runInBackground(
        this,
        [paths, steps] {
            std::vector<SampleWords::Said> said;
            for (std::size_t i = 0; i < paths.size(); ++i) {
                said.push_back({steps[i], readSampleFile(paths[i])});
            }
            return said;
        },
        [this, paths](const std::vector<SampleWords::Said>& said) {
            if (paths == wanted_) { // no other step was chosen meanwhile
                show(said);
            }
        });
}

void SamplePanel::show(const std::vector<SampleWords::Said>& said) {
    const SampleFile& file = said.front().file;
    right_->setText({});
    if (file.isEmpty()) {
        say(tr("The samples of this step cannot be read."));
        grid_->setImages({});
        return;
    }
    if (!file.pictures.empty()) {
        showMade(file.pictures);
        return;
    }
    if (file.classes.empty()) {
        showWords(said, {});
        return;
    }
    std::vector<std::int64_t> indices;
    for (const SaidClass& one : file.classes) {
        indices.push_back(one.index);
    }
    pictures_.read(
        this, std::move(indices), [this, said, paths = wanted_](const SampleSet& samples) {
            if (paths != wanted_) {
                return;
            }
            const bool images =
                std::any_of(samples.pictures.begin(), samples.pictures.end(),
                            [](const SamplePicture& one) { return !one.image.isNull(); });
            if (images) {
                showPictures(said.front().file.classes, samples);
            } else {
                showWords(said, samples);
            }
        });
}

void SamplePanel::showWords(std::vector<SampleWords::Said> said, const SampleSet& samples) {
    say({});
    beside_line_->setVisible(run_.samples().size() > 1);
    words_->setSaid(std::move(said), samples);
    words_->show();
}

// A line of the grid for each sample.
void SamplePanel::showMade(const std::vector<MadePicture>& pictures) {
    std::vector<widgets::GridImage> images;
    const auto add = [&images](const QImage& picture, const QString& caption) {
        widgets::GridImage image;
        image.image = picture;
        image.caption = caption;
        images.push_back(std::move(image));
    };
    for (const MadePicture& one : pictures) {
        add(one.data, tr("sample %1").arg(formatCount(one.index)));
        if (!one.reconstruction.isNull()) {
            add(one.reconstruction, tr("given back"));
        }
        add(one.made, one.name.isEmpty() ? tr("made up") : one.name);
    }
    say({});
    pictures_area_->show();
    right_->setText(tr("the same latents each time"));
    right_->setToolTip(tr("Given back: what the model makes of the mean of a sample's latent. Made "
                          "up: what it makes of random latents, the same at every step."));
    grid_->setColumns(static_cast<int>(images.size() / pictures.size()));
    grid_->setNotesExpected(false);
    grid_->setImages(std::move(images));
}

void SamplePanel::showPictures(const std::vector<SaidClass>& predictions,
                               const SampleSet& samples) {
    std::vector<widgets::GridImage> images;
    int right = 0;
    for (const SamplePicture& picture : samples.pictures) {
        const auto said =
            std::find_if(predictions.begin(), predictions.end(),
                         [&](const SaidClass& one) { return one.index == picture.index; });
        if (picture.image.isNull() || said == predictions.end()) {
            continue;
        }
        widgets::GridImage image;
        image.image = picture.image;
        image.caption = samples.className(said->predicted);
        image.value = QString::number(said->probability, 'f', 2);
        image.wrong = said->predicted != said->label;
        image.note = image.wrong ? tr("is %1").arg(samples.className(said->label)) : QString();
        right += image.wrong ? 0 : 1;
        images.push_back(std::move(image));
    }
    say({});
    pictures_area_->show();
    fitText();
    grid_->setNotesExpected(true);
    right_->setText(tr("%1 of %2 right").arg(right).arg(images.size()));
    right_->setToolTip(tr("Right predictions of those shown"));
    grid_->setImages(std::move(images));
}

} // namespace weft::ui
