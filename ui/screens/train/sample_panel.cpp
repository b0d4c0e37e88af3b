// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/screens/train/sample_panel.h"

#include "core/base/file.h"
#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"
#include "widgets/card.h"
#include "widgets/image_grid.h"
#include "widgets/messages.h"
#include "widgets/step_dots.h"
#include "widgets/text_label.h"

#include <QVBoxLayout>

namespace weft::ui {
namespace {

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
    grid_ = new widgets::ImageGrid;
    grid_->setObjectName("samples");
    grid_->setCellWidth(92);
    grid_->setEmptyText({});
    pictures_area_ = widgets::verticalScroll(grid_);
    column->addWidget(pictures_area_, 1);
    hint_ = new widgets::EmptyState;
    column->addWidget(hint_, 1);
    connect(&run_, &RunModel::reset, this, &SamplePanel::onReset);
    connect(&run_, &RunModel::sampleAdded, this, &SamplePanel::updateSteps);
    connect(&run_, &RunModel::stepsRewound, this, &SamplePanel::updateSteps);
    connect(steps_, &widgets::StepDots::chosenChanged, this, &SamplePanel::readSamples);
    fitText();
    onReset();
}

// Large text needs wider pictures for the words below them.
void SamplePanel::fitText() {
    const double scale = widgets::Theme::current().fontScale();
    grid_->setColumns(scale > kTwoColumnsScale ? 2 : 3);
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
    const bool configured = !run_.isEmpty() && !run_.isForeign();
    const bool none =
        configured && run_.config().section("evaluation").value("samples", 1) == 0;
    say(any    ? QString()
        : none ? tr("This run keeps no samples: its evaluation.samples is 0.")
        : configured && run_.config().context() > 0
            ? tr("A language model has no such samples: let it write under “Try it”.")
        : run_.finished() ? tr("This run kept no samples: they are those of classifiers.")
               : tr("Predictions on the same validation samples appear here after each "
                    "evaluation."));
    steps_->setSteps(std::move(steps));
}

void SamplePanel::say(const QString& hint) {
    hint_->setText(hint);
    hint_->setVisible(!hint.isEmpty());
    pictures_area_->setVisible(hint.isEmpty());
}

/// samples/step-N.json: {"samples": [{"index", "label", "top": [{"class", "probability"}, ...]}]}
std::vector<SamplePanel::Prediction> SamplePanel::readFile(const std::filesystem::path& path) {
    std::vector<Prediction> read;
    try {
        const config::Checked parsed = config::parse_json(read_file(path), path.string());
        for (const auto& sample : parsed.value.at("samples")) {
            const auto& top = sample.at("top");
            read.push_back({sample.at("index").get<std::int64_t>(), sample.at("label").get<int>(),
                            top.at(0).at("class").get<int>(),
                            top.at(0).at("probability").get<double>()});
        }
    } catch (const std::exception&) {
        read.clear(); // written by another version, or gone: the panel says so
    }
    return read;
}

void SamplePanel::readSamples() {
    const int chosen = steps_->chosen();
    if (chosen < 0 || static_cast<std::size_t>(chosen) >= run_.samples().size()) {
        return;
    }
    const train::SampleEvent& sample = run_.samples()[static_cast<std::size_t>(chosen)];
    step_->setText(tr("step %1").arg(formatCount(sample.step)));
    wanted_ = run_.folder() / sample.path;
    runInBackground(
        this, [path = wanted_] { return readFile(path); },
        [this, path = wanted_](const std::vector<Prediction>& predictions) {
            if (path != wanted_) {
                return; // another step was chosen meanwhile
            }
            if (predictions.empty()) {
                say(tr("The samples of this step cannot be read."));
                grid_->setImages({});
                return;
            }
            std::vector<std::int64_t> indices;
            for (const Prediction& prediction : predictions) {
                indices.push_back(prediction.index);
            }
            pictures_.read(this, std::move(indices),
                           [this, path, predictions](const SampleSet& samples) {
                               if (path == wanted_) {
                                   show(predictions, samples);
                               }
                           });
        });
}

void SamplePanel::show(const std::vector<Prediction>& predictions, const SampleSet& samples) {
    std::vector<widgets::GridImage> images;
    int right = 0;
    for (const SamplePicture& picture : samples.pictures) {
        const auto said =
            std::find_if(predictions.begin(), predictions.end(),
                         [&](const Prediction& one) { return one.index == picture.index; });
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
    say(!images.empty()             ? QString()
        : samples.problem.isEmpty() ? tr("The samples of this run are no images.")
                                    : samples.problem);
    right_->setText(images.empty() ? QString() : tr("%1 of %2").arg(right).arg(images.size()));
    right_->setToolTip(tr("Right predictions of those shown"));
    grid_->setImages(std::move(images));
}

} // namespace weft::ui
