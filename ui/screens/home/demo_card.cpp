// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/screens/home/demo_card.h"

#include "core/base/error.h"
#include "core/data/dataset.h"
#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"
#include "ui/studio.h"
#include "widgets/icon.h"
#include "widgets/line_chart.h"
#include "widgets/style.h"
#include "widgets/text_label.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>
#include <cstring>

namespace weft::ui {
namespace {

constexpr auto kDemoPreset = "fashion-mlp.json";
constexpr auto kDemoName = "fashion-mlp";
constexpr int kCellWidth = 64; // at text size 1
constexpr int kPictures = 10;

using widgets::Role;
using widgets::TextStyle;

struct Pictures {
    std::vector<widgets::GridImage> images;
    QString problem;
};

/// The goal as last evaluated and when that was; the loss, while nothing trained was evaluated.
QString lastDemoText(const train::RunSummary& run) {
    const train::MetricSummary* goal = run.metric(run.best_metric);
    const bool evaluated = goal != nullptr && goal->last_step > 0;
    const double share =
        evaluated ? static_cast<double>(goal->last_step) / static_cast<double>(run.step) : 1.0;
    return QObject::tr("last demo: %1 %2 after %3")
        .arg(evaluated ? toQString(run.best_metric) : QStringLiteral("train/loss"),
             formatMetric(evaluated ? goal->last : run.last_loss),
             formatDuration(run.seconds * std::min(share, 1.0)));
}

/// The first validation picture of each class, through the engine's own reader.
Pictures read_pictures(const std::filesystem::path& preset) {
    try {
        const compile::CheckedRun checked = compile::read_run_config_file(preset);
        if (!checked.ok()) {
            return {{}, QObject::tr("The demo preset is missing.")};
        }
        config::Json section = checked.config.section("data");
        section["transforms"] = config::Json::array(); // plain pictures, before normalising
        const data::DataSet set = data::open_data(section, {checked.config.base_dir, 0, 0});
        const data::Source& source = set.validation ? *set.validation : *set.train;
        const ir::Shape shape = source.info().input.shape;
        std::vector<widgets::GridImage> images(kPictures);
        std::vector<std::byte> pixels(static_cast<std::size_t>(source.info().input.bytes()));
        int found = 0;
        for (std::int64_t i = 0; i < source.samples() && found < kPictures; ++i) {
            const std::int32_t label = source.label(i);
            if (label < 0 || label >= kPictures ||
                !images[static_cast<std::size_t>(label)].image.isNull()) {
                continue;
            }
            source.read(i, pixels, {});
            std::vector<float> values(static_cast<std::size_t>(shape.elements()));
            std::memcpy(values.data(), pixels.data(), pixels.size());
            widgets::GridImage& image = images[static_cast<std::size_t>(label)];
            image.image = widgets::imageFromFloats(values, static_cast<int>(shape[1]),
                                                   static_cast<int>(shape[0]), 1, 0.0F, 1.0F);
            const auto& names = source.info().class_names;
            image.caption = static_cast<std::size_t>(label) < names.size()
                                ? toQString(names[static_cast<std::size_t>(label)])
                                : QString::number(label);
            ++found;
        }
        return {std::move(images), {}};
    } catch (const Error& error) {
        return {{}, toQString(error.message())};
    }
}

int cellWidth() {
    return static_cast<int>(kCellWidth * widgets::Theme::current().fontScale());
}

} // namespace

DemoCard::DemoCard(Studio& studio, QWidget* parent) : Card(parent), studio_(studio) {
    setObjectName("demoCard");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(24, 20, 24, 20);
    column->setSpacing(widgets::space::kControl);
    column->addWidget(
        new widgets::TextLabel(tr("Teach it to recognise clothes"), TextStyle::Title));
    auto* what =
        new widgets::TextLabel(tr("A small network learns ten kinds of clothing from 54,000 "
                                  "pictures, on this machine, while you watch."),
                               TextStyle::Body, Role::Muted);
    what->setWordWrap(true);
    column->addWidget(what);

    column->addSpacing(widgets::space::kTight);
    auto* middle = new QHBoxLayout;
    middle->setSpacing(24);
    pictures_ = new widgets::ImageGrid;
    pictures_->setColumns(5);
    pictures_->setCellWidth(cellWidth());
    pictures_->setCentredCaptions(true);
    pictures_->setEmptyText(tr("Loading pictures…"));
    pictures_->setAccessibleName(tr("Ten kinds of clothing"));
    middle->addWidget(pictures_, 2, Qt::AlignTop);
    auto* side = new QVBoxLayout;
    side->setSpacing(4);
    chart_ = new widgets::LineChart;
    chart_->setMinimumSize(160, 120);
    chart_->setAxisNames(tr("seconds"), tr("loss"));
    chart_->setXKind(widgets::LineChart::XKind::Seconds);
    chart_->setOverlayText(tr("Its loss curve"), tr("after one run"));
    chart_->setFocusPolicy(Qt::NoFocus);
    side->addWidget(chart_, 1);
    chart_note_ = new widgets::ElidedLabel({}, TextStyle::Caption, Role::Muted);
    chart_note_->setObjectName("demoNote");
    side->addWidget(chart_note_);
    middle->addLayout(side, 1);
    column->addLayout(middle, 1);

    auto* bottom = new QHBoxLayout;
    bottom->setSpacing(widgets::space::kGroup);
    start_ = new QPushButton(widgets::icon("play-filled", Role::OnAccent),
                             tr("Run the demo · one minute"));
    start_->setObjectName("runDemo");
    start_->setMinimumHeight(36);
    widgets::setButtonKind(start_, widgets::ButtonKind::Primary);
    connect(start_, &QPushButton::clicked, this, &DemoCard::startDemo);
    bottom->addWidget(start_);
    bottom->addWidget(new widgets::ElidedLabel(tr("needs no GPU, no download, no account"),
                                               TextStyle::Caption, Role::Muted),
                      1);
    column->addLayout(bottom);

    connect(&studio_, &Studio::trainingChanged, this, &DemoCard::updateButton);
    connect(&studio_.index(), &RunIndex::runsChanged, this, &DemoCard::showLastDemo);
    loadPictures();
    updateButton();
}

// Captions below the pictures grow with the text.
void DemoCard::changeEvent(QEvent* event) {
    Card::changeEvent(event);
    const bool look = event->type() == QEvent::FontChange || event->type() == QEvent::PaletteChange;
    if (look && pictures_ != nullptr) {
        pictures_->setCellWidth(cellWidth());
    }
}

void DemoCard::loadPictures() {
    runInBackground(
        this, [preset = studio_.paths().presets / kDemoPreset] { return read_pictures(preset); },
        [this](Pictures pictures) {
            if (pictures.problem.isEmpty()) {
                pictures_->setImages(std::move(pictures.images));
            } else {
                pictures_->setEmptyText(pictures.problem);
            }
        });
}

void DemoCard::showLastDemo() {
    for (const train::RunSummary& run : studio_.index().runs()) {
        if (run.info.name != kDemoName || run.loss_curve.size() < 2 || run.step == 0) {
            continue;
        }
        std::vector<double> x;
        std::vector<double> y;
        for (const auto& [step, loss] : run.loss_curve) {
            x.push_back(step / static_cast<double>(run.step) * run.seconds);
            y.push_back(loss);
        }
        chart_->clearAll();
        const int series = chart_->addSeries({tr("train/loss"), {}, 0, widgets::SeriesForm::Plain});
        chart_->append(series, x, y);
        chart_->setOverlayText({});
        chart_note_->setText(lastDemoText(run));
        return;
    }
}

void DemoCard::startDemo() {
    const StartResult result = studio_.startFile(studio_.paths().presets / kDemoPreset);
    if (!result.started) {
        emit failed(result.problem);
    }
}

void DemoCard::updateButton() {
    start_->setEnabled(!studio_.isTraining());
    start_->setToolTip(studio_.isTraining() ? tr("%1 is still training").arg(studio_.run().name())
                                            : QString());
}

} // namespace weft::ui
