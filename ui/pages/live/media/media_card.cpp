// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/live/media/media_card.h"

#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"
#include "ui/file_dialog.h"
#include "widgets/controls/text_label.h"
#include "widgets/curves/line_chart.h"
#include "widgets/look/style.h"
#include "widgets/spread/histogram_view.h"
#include "widgets/views/image_grid.h"
#include "widgets/views/step_dots.h"

#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

using train::MediaKind;
using widgets::Role;
using widgets::TextLabel;
using widgets::TextStyle;

constexpr int kMediaChartHeight = 200;
constexpr int kLeastPicture = 96, kMostPicture = 320; // width of a cell
constexpr int kMediaStepsWidth = 260;

bool isSamePlace(const train::MediaPlace& a, const train::MediaPlace& b) {
    return a.file == b.file && a.offset == b.offset && a.value == b.value;
}

} // namespace

MediaCard::MediaCard(std::filesystem::path folder, const train::MediaSeries& series,
                     QWidget* parent)
    : QWidget(parent), folder_(std::move(folder)), series_(series) {
    setObjectName("mediaCard");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(widgets::space::kControl);
    auto* head = new QHBoxLayout;
    head->setSpacing(widgets::space::kControl);
    head->addWidget(new widgets::ElidedLabel(toQString(series_.tag), TextStyle::Strong), 1);
    step_ = new TextLabel({}, TextStyle::Caption, Role::Muted);
    step_->setObjectName("mediaStep");
    head->addWidget(step_);
    steps_ = new widgets::StepDots;
    steps_->setObjectName("mediaSteps");
    steps_->setAccessibleName(tr("Step of %1").arg(toQString(series_.tag)));
    steps_->setMaximumWidth(kMediaStepsWidth);
    head->addWidget(steps_, 1);
    save_ = new QPushButton(tr("Save…"));
    save_->setObjectName("saveMedia");
    save_->setToolTip(tr("Write what this step shows as a file"));
    widgets::setCompact(save_);
    save_->setEnabled(false);
    connect(save_, &QPushButton::clicked, this, &MediaCard::askAndSave);
    head->addWidget(save_);
    column->addLayout(head);
    createBody(*column);
    note_ = new TextLabel({}, TextStyle::Caption, Role::Muted);
    note_->setObjectName("mediaNote");
    note_->setWordWrap(true);
    note_->hide();
    column->addWidget(note_);
    connect(steps_, &widgets::StepDots::chosenChanged, this, &MediaCard::read);
    setSeries(series);
}

void MediaCard::createBody(QVBoxLayout& column) {
    const QString name = toQString(series_.tag);
    switch (series_.kind) {
    case MediaKind::image:
        pictures_ = new widgets::ImageGrid;
        pictures_->setAccessibleName(tr("Pictures of %1").arg(name));
        pictures_->setCentredCaptions(true);
        column.addWidget(pictures_);
        return;
    case MediaKind::text:
        text_ = new TextLabel;
        text_->setObjectName("mediaText");
        text_->setWordWrap(true);
        text_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
        column.addWidget(text_);
        return;
    case MediaKind::audio: chart_ = createChart(tr("seconds"), tr("amplitude")); break;
    case MediaKind::pr_curve: chart_ = createChart(tr("recall"), tr("precision")); break;
    case MediaKind::histogram:
        chart_ = createChart(tr("step"), name);
        column.addWidget(chart_);
        histogram_ = new widgets::HistogramView;
        histogram_->setAccessibleName(tr("Histogram of %1").arg(name));
        column.addWidget(histogram_);
        return;
    }
    column.addWidget(chart_);
}

widgets::LineChart* MediaCard::createChart(const QString& x_name, const QString& y_name) {
    auto* chart = new widgets::LineChart;
    chart->setAccessibleName(toQString(series_.tag));
    chart->setAxisNames(x_name, y_name);
    chart->setSmoothing(0);
    chart->setFixedHeight(kMediaChartHeight);
    return chart;
}

void MediaCard::setSeries(const train::MediaSeries& series) {
    const bool is_new = steps_->chosen() < 0 || series.places.size() != series_.places.size();
    series_ = series;
    std::vector<qint64> steps;
    for (const train::MediaPlace& place : series_.places) {
        steps.push_back(place.step);
    }
    steps_->setVisible(steps.size() > 1);
    steps_->setSteps(std::move(steps)); // reads, where another step is chosen by it
    const auto at = static_cast<std::size_t>(std::max(0, steps_->chosen()));
    if (at < series_.places.size() && !isSamePlace(series_.places[at], place_)) {
        read(); // the program went back and wrote this step anew
    }
    if (is_new && series_.kind == MediaKind::histogram) {
        readSpread();
    }
}

void MediaCard::read() {
    const auto at = static_cast<std::size_t>(std::max(0, steps_->chosen()));
    if (at >= series_.places.size()) {
        return;
    }
    place_ = series_.places[at];
    step_->setText(tr("step %1").arg(formatCount(place_.step)));
    job_.start([folder = folder_, kind = series_.kind,
                place = place_] { return readDrawnMedia(folder, kind, place); },
               [this](DrawnMedia drawn) { show(std::move(drawn)); });
}

void MediaCard::readSpread() {
    spread_job_.start(
        [folder = folder_, places = series_.places](const std::stop_token& stop) {
            return readMediaSpread(folder, places, stop);
        },
        [this](const MediaSpread& spread) { showSpread(spread); });
}

void MediaCard::show(DrawnMedia drawn) {
    drawn_ = std::move(drawn);
    QStringList notes;
    if (!drawn_.problem.isEmpty()) {
        notes << drawn_.problem;
    }
    if (pictures_ != nullptr) {
        std::vector<widgets::GridImage> images;
        int widest = 0, unreadable = 0;
        for (const QImage& picture : drawn_.pictures) {
            widest = std::max(widest, picture.width());
            unreadable += picture.isNull() ? 1 : 0;
            const QString size = picture.isNull()
                                     ? tr("cannot be read")
                                     : tr("%1 × %2").arg(picture.width()).arg(picture.height());
            images.push_back({picture, size, {}, {}, false});
        }
        pictures_->setCellWidth(std::clamp(widest, kLeastPicture, kMostPicture));
        pictures_->setImages(std::move(images));
        if (unreadable > 0) {
            notes << tr("Damaged or of a form that is not read: %n picture(s). Save keeps what was "
                        "written.",
                        nullptr, unreadable);
        }
        if (drawn_.more_pictures > 0) {
            notes << tr("Not shown of this step: %n more picture(s). Save writes all.", nullptr,
                        static_cast<int>(drawn_.more_pictures));
        }
    } else if (text_ != nullptr) {
        text_->setText(drawn_.texts.join("\n"));
    } else if (histogram_ != nullptr) {
        histogram_->setCounts(drawn_.counts, drawn_.low, drawn_.high);
        notes << tr("At this step %1 numbers; heights of bars are logarithmic.")
                     .arg(formatCount(static_cast<qint64>(drawn_.total)));
    } else if (series_.kind == MediaKind::audio) {
        showSound();
        if (drawn_.sound.rate > 0) {
            notes
                << tr("%1 s at %2 Hz, %n channel(s). Sounds are drawn and not played; Save writes "
                      "the WAV file.",
                      nullptr, static_cast<int>(drawn_.sound.channels.size()))
                       .arg(drawn_.sound.seconds, 0, 'g', 3)
                       .arg(formatCount(static_cast<qint64>(drawn_.sound.rate)));
        }
    } else {
        showCurve();
    }
    save_->setEnabled(!drawn_.files.empty());
    note_->setText(notes.join(" "));
    note_->setVisible(!notes.isEmpty());
}

void MediaCard::showSound() {
    chart_->clearContent();
    for (std::size_t i = 0; i < drawn_.sound.channels.size(); ++i) {
        const QString name =
            drawn_.sound.channels.size() == 1 ? tr("amplitude") : tr("channel %1").arg(i + 1);
        const int id = chart_->addSeries({name, name, static_cast<int>(i),
                                          widgets::SeriesForm::Thin, Qt::SolidLine, true, false});
        chart_->append(id, drawn_.sound.at, drawn_.sound.channels[i]);
    }
}

void MediaCard::showCurve() {
    chart_->clearContent();
    const int id = chart_->addSeries({tr("precision"), tr("precision"), 0,
                                      widgets::SeriesForm::Plain, Qt::SolidLine, true, false});
    chart_->append(id, drawn_.recall, drawn_.precision);
}

// The median, and around it bands that hold 38, 68, 87 and 100 % of the numbers.
void MediaCard::showSpread(const MediaSpread& spread) {
    if (spread.steps.empty()) {
        return;
    }
    chart_->clearContent();
    constexpr std::size_t kMedian = kSpreadShares.size() / 2;
    for (std::size_t out = 0; out < kMedian; ++out) { // the widest first
        const bool innermost = out + 1 == kMedian;
        const QString name = innermost
                                 ? tr("median")
                                 : tr("%1 to %2 %")
                                       .arg(100 * kSpreadShares[out], 0, 'f', 0)
                                       .arg(100 * kSpreadShares[2 * kMedian - out], 0, 'f', 0);
        const int id = chart_->addSeries(
            {name, name, 0, innermost ? widgets::SeriesForm::Plain : widgets::SeriesForm::Thin,
             Qt::SolidLine, true, false});
        chart_->append(id, spread.steps, spread.levels[kMedian]);
        chart_->setBand(id, spread.steps, spread.levels[out], spread.levels[2 * kMedian - out]);
    }
    chart_->setTitle(
        spread.all > spread.steps.size()
            ? tr("Median and bands of 38, 68, 87 and 100 % of the numbers; %1 of %2 steps")
                  .arg(formatCount(static_cast<qint64>(spread.steps.size())),
                       formatCount(static_cast<qint64>(spread.all)))
            : tr("Median and bands of 38, 68, 87 and 100 % of the numbers"));
}

/// "layer1/weight" at step 200 -> "layer1-weight-200".
QString MediaCard::fileStem() const {
    QString out = toQString(series_.tag);
    for (QChar& letter : out) {
        if (!letter.isLetterOrNumber() && letter != '.' && letter != '_') {
            letter = '-';
        }
    }
    return out + QString("-%1").arg(place_.step);
}

void MediaCard::askAndSave() {
    const QString title = tr("Save %1").arg(toQString(series_.tag));
    const QString place =
        drawn_.files.size() > 1
            ? askForFolder(this, {title, FileUse::Export})
            : askForPlace(this, {title,
                                 FileUse::Export,
                                 {},
                                 fileStem() + toQString(drawn_.files.front().ending)});
    if (!place.isEmpty()) {
        saveTo(place);
    }
}

void MediaCard::saveTo(const QString& place) {
    runInBackground(
        this,
        [files = drawn_.files, path = toPath(place), stem = fileStem()] {
            return saveMedia(files, path, stem);
        },
        [this, place](const QString& problem) {
            emit exported(problem.isEmpty(),
                          problem.isEmpty() ? tr("Saved as %1").arg(place) : problem);
        });
}

} // namespace weft::ui
