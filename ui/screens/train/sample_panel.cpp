// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/screens/train/sample_panel.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/data/dataset.h"
#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"
#include "widgets/card.h"
#include "widgets/image_grid.h"
#include "widgets/text_label.h"

#include <QVBoxLayout>

#include <cstring>

namespace weft::ui {
namespace {

constexpr int kSmallestWidth = 240; // at text size 1
constexpr double kTwoColumnsScale = 1.2;

struct Opened {
    std::shared_ptr<const data::Source> source;
};

struct Read {
    std::vector<SamplePrediction> predictions;
};

Opened open_validation(const compile::RunConfig& config) {
    try {
        config::Json section = config.section("data");
        section["transforms"] = config::Json::array();
        return {
            data::open_data(section, {config.base_dir, config.context(), config.seed}).validation};
    } catch (const Error&) {
        return {}; // the run itself reports what is wrong with its data
    }
}

/// samples/step-N.json: {"samples": [{"index", "label", "top": [{"class", "probability"}, ...]}]}
Read read_file_of_samples(const std::filesystem::path& path) {
    Read read;
    try {
        const config::Checked parsed = config::parse_json(read_file(path), path.string());
        for (const auto& sample : parsed.value.at("samples")) {
            const auto& top = sample.at("top");
            read.predictions.push_back(
                {sample.at("index").get<std::int64_t>(), sample.at("label").get<int>(),
                 top.at(0).at("class").get<int>(), top.at(0).at("probability").get<double>()});
        }
    } catch (const std::exception&) {
        read.predictions.clear(); // written by another version: no pictures, the charts still work
    }
    return read;
}

} // namespace

SamplePanel::SamplePanel(RunModel& run, QWidget* parent) : QWidget(parent), run_(run) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    header_ = new widgets::SectionHeader(tr("Samples"));
    column->addWidget(header_);
    auto* inner = new QVBoxLayout;
    inner->setContentsMargins(12, 12, 12, 0);
    grid_ = new widgets::ImageGrid;
    grid_->setObjectName("samples");
    grid_->setCellWidth(92);
    grid_->setEmptyText({});
    inner->addWidget(widgets::verticalScroll(grid_), 1);
    hint_ = new widgets::TextLabel({}, widgets::TextStyle::Caption, widgets::Role::Muted);
    hint_->setWordWrap(true);
    inner->addWidget(hint_);
    column->addLayout(inner, 1);
    connect(&run_, &RunModel::reset, this, &SamplePanel::onReset);
    connect(&run_, &RunModel::sampleAdded, this, &SamplePanel::readSamples);
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
    validation_.reset();
    shown_.clear();
    grid_->setImages({});
    hint_->setText(
        tr("Predictions on the same validation samples appear here after each evaluation."));
    header_->setSubtitle({});
    if (run_.lastSample()) {
        readSamples();
    }
}

void SamplePanel::readSamples() {
    const auto path = run_.folder() / run_.lastSample()->path;
    const QString step = formatCount(run_.lastSample()->step);
    runInBackground(
        this, [path] { return read_file_of_samples(path); },
        [this, step, folder = run_.folder()](const Read& read) {
            if (read.predictions.empty() || folder != run_.folder()) {
                return;
            }
            header_->setSubtitle(tr("the same each time · step %1").arg(step));
            shown_ = read.predictions;
            validation_ ? show(shown_) : openData();
        });
}

void SamplePanel::openData() {
    if (std::exchange(opening_, true)) {
        return;
    }
    runInBackground(
        this, [config = run_.config()] { return open_validation(config); },
        [this, folder = run_.folder()](const Opened& opened) {
            opening_ = false;
            if (folder != run_.folder()) {
                return; // the data of another run
            }
            validation_ = opened.source;
            if (validation_) {
                show(shown_);
            }
        });
}

void SamplePanel::show(const std::vector<SamplePrediction>& predictions) {
    const ir::Type type = validation_->info().input;
    if (type.dtype != ir::DType::f32 || type.shape.rank() != 3) {
        return;
    }
    const auto& names = validation_->info().class_names;
    const auto name_of = [&](int index) {
        return index >= 0 && static_cast<std::size_t>(index) < names.size()
                   ? toQString(names[static_cast<std::size_t>(index)])
                   : QString::number(index);
    };
    std::vector<widgets::GridImage> images;
    int wrong = 0;
    std::vector<std::byte> bytes(static_cast<std::size_t>(type.bytes()));
    std::vector<float> values(static_cast<std::size_t>(type.shape.elements()));
    for (const SamplePrediction& sample : predictions) {
        if (sample.index < 0 || sample.index >= validation_->samples()) {
            continue;
        }
        validation_->read(sample.index, bytes, {});
        std::memcpy(values.data(), bytes.data(), bytes.size());
        widgets::GridImage image;
        image.image = widgets::imageFromFloats(values, static_cast<int>(type.shape[1]),
                                               static_cast<int>(type.shape[0]),
                                               static_cast<int>(type.shape[2]), 0.0F, 1.0F);
        image.caption = name_of(sample.predicted);
        image.value = QString::number(sample.probability, 'f', 2);
        image.wrong = sample.predicted != sample.label;
        image.note = image.wrong ? tr("is %1").arg(name_of(sample.label)) : QString();
        wrong += image.wrong ? 1 : 0;
        images.push_back(std::move(image));
    }
    header_->setTrailing(
        tr("%1 of %2 right").arg(static_cast<int>(images.size()) - wrong).arg(images.size()));
    grid_->setImages(std::move(images));
    hint_->setText({});
}

} // namespace weft::ui
