// SPDX-License-Identifier: GPL-3.0-or-later
#include "fake_data.h"
#include "pages.h"

#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/number_strip.h"
#include "widgets/controls/text_label.h"
#include "widgets/curves/line_chart.h"
#include "widgets/look/icon.h"
#include "widgets/views/confusion_view.h"
#include "widgets/views/probability_bars.h"
#include "widgets/views/sketch_pad.h"
#include "widgets/views/step_dots.h"

#include <QHBoxLayout>
#include <QScrollArea>
#include <QSlider>
#include <QToolButton>
#include <QVBoxLayout>

#include <string_view>

namespace weft::gallery {

using namespace widgets;

namespace {

QVBoxLayout* column(QWidget* widget) {
    auto* layout = new QVBoxLayout(widget);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    return layout;
}

NumberStrip* makeNumbers() {
    auto* strip = new NumberStrip;
    strip->setNumber(0, {QStringLiteral("Step"), QStringLiteral("1,412"), {},
                         QStringLiteral("of 2,110 · epoch 3.35 of 5"), Role::Success, {}});
    strip->setNumber(1, {QStringLiteral("Train loss"), QStringLiteral("0.238"), {},
                         QStringLiteral("smoothed 0.95 · last 0.221"), Role::Success, {}});
    strip->setNumber(2, {QStringLiteral("Validation accuracy"), QStringLiteral("0.908"),
                         QStringLiteral("best so far"), QStringLiteral("step 1,266"),
                         Role::Success, {}});
    strip->setNumber(3, {QStringLiteral("Speed"), QStringLiteral("1,180"), {},
                         QStringLiteral("samples/s · 108 ms a step"), Role::Success, {}});
    strip->setNumber(4, {QStringLiteral("Time left"), QStringLiteral("1 m 16 s"), {},
                         QStringLiteral("done at 14:33 · 2 m 33 s so far"), Role::Success, {}});
    return strip;
}

SectionHeader* makeChartHeader() {
    auto* header = new SectionHeader(QStringLiteral("Loss"));
    header->setSubtitle(
        QStringLiteral("train line, raw faint · validation rings · one colour a run"));
    header->addControl(new TextLabel(QStringLiteral("Smoothing"), TextStyle::Caption, Role::Muted));
    auto* slider = new QSlider(Qt::Horizontal);
    slider->setRange(0, 99);
    slider->setValue(90);
    slider->setFixedWidth(88);
    slider->setAccessibleName(QStringLiteral("Smoothing"));
    header->addControl(slider);
    header->addControl(new TextLabel(QStringLiteral("0.90"), TextStyle::MonoSmall));
    auto* scale = new SegmentedControl({QStringLiteral("Linear"), QStringLiteral("Log")});
    scale->setCompact(true);
    scale->setCurrentIndex(1);
    header->addControl(scale);
    auto* axis = new SegmentedControl(
        {QStringLiteral("Step"), QStringLiteral("Epoch"), QStringLiteral("Time")});
    axis->setCompact(true);
    header->addControl(axis);
    for (const char* name : {"link", "expand", "export"}) {
        auto* button = new QToolButton;
        button->setIcon(icon(QString::fromLatin1(name)));
        button->setAutoRaise(true);
        button->setCheckable(std::string_view(name) == "link");
        button->setChecked(std::string_view(name) == "link");
        widgets::setCompact(button);
        header->addControl(button);
    }
    return header;
}

LineChart* makeLossChart() {
    auto* chart = new LineChart;
    chart->setAxisNames(QStringLiteral("step"), QStringLiteral("loss"));
    chart->setSmoothing(0.9);
    chart->setLogScale(true);
    const auto add = [chart](const SeriesSpec& spec, const Curve& curve) {
        chart->append(chart->addSeries(spec), curve.x, curve.y);
    };
    add({QStringLiteral("train/loss"), QStringLiteral("fashion-mlp-002"), 3, SeriesForm::Thin,
         Qt::DashLine, true},
        lossCurve(2110, 2.3, 0.36, 0.12, 3));
    add({QStringLiteral("train/loss"), QStringLiteral("fashion-cnn-003"), 2, SeriesForm::Thin,
         Qt::DotLine, true},
        lossCurve(2110, 2.3, 0.30, 0.12, 2));
    add({QStringLiteral("train/loss"), QStringLiteral("fashion-cnn-004"), 0, SeriesForm::Smoothed,
         Qt::SolidLine, true},
        lossCurve(1412, 2.3, 0.20, 0.22, 1));
    add({QStringLiteral("validation/loss"), QStringLiteral("fashion-cnn-004"), 0,
         SeriesForm::Markers, Qt::SolidLine, true},
        validationCurve(1412, 211, 2.4, 0.21));
    chart->setPlannedRange(ChartRange{0, 2110});
    chart->setTopTicks({{422, QStringLiteral("epoch 1")},
                        {844, QStringLiteral("epoch 2")},
                        {1266, QStringLiteral("epoch 3")},
                        {1688, QStringLiteral("epoch 4")}});
    chart->setFlags({{422, true, false, QStringLiteral("step 422")},
                     {633, false, false, QStringLiteral("step 633, pruned")},
                     {844, true, false, QStringLiteral("step 844")},
                     {1055, true, false, QStringLiteral("step 1,055")},
                     {1266, true, true, QStringLiteral("step 1,266, best")}});
    chart->setBest(1266.0, 0.262, QStringLiteral("best 0.262"));
    return chart;
}

LineChart* makeSmallChart(const QString& title, const Curve& curve, SeriesForm form) {
    auto* chart = new LineChart;
    chart->setTitle(title);
    chart->setSmoothing(0.9);
    chart->setCompactCrosshair(true);
    chart->setPlannedRange(ChartRange{0, 2110});
    chart->append(chart->addSeries({title, {}, 0, form, Qt::SolidLine, true}), curve.x, curve.y);
    return chart;
}

QWidget* makeCharts() {
    auto* charts = new Surface;
    QVBoxLayout* layout = column(charts);
    layout->addWidget(makeChartHeader());
    LineChart* loss = makeLossChart();
    LineChart* rate = makeSmallChart(QStringLiteral("Learning rate"),
                                     learningRate(0, 1412, 2110, 100, 1e-3), SeriesForm::Plain);
    const Curve future = learningRate(1412, 2110, 2110, 100, 1e-3);
    rate->append(rate->addSeries({QStringLiteral("planned"), {}, 0, SeriesForm::Planned,
                                  Qt::SolidLine, true}),
                 future.x, future.y);
    rate->setXAxisVisible(false);
    LineChart* norm = makeSmallChart(QStringLiteral("Gradient norm"), gradientNorm(1412, 9),
                                     SeriesForm::Smoothed);
    norm->setLogScale(true);
    norm->setThreshold(1.0, QStringLiteral("clipped above 1.0 · 9 % of steps"));
    auto* link = new ChartLink(charts);
    for (LineChart* chart : {loss, rate, norm}) {
        link->add(chart);
    }
    layout->addWidget(loss, 3);
    layout->addWidget(new Hairline);
    rate->setFixedHeight(100);
    layout->addWidget(rate);
    layout->addWidget(new Hairline);
    norm->setFixedHeight(124);
    layout->addWidget(norm);
    layout->addWidget(new Hairline);
    auto* memory = new SectionHeader(QStringLiteral("Memory"), SectionHeader::Level::Inline);
    memory->setSubtitle(QStringLiteral("by category, at its peak"));
    memory->setTrailing(QStringLiteral("measured 2.4 % over plan"), Role::Success);
    auto* bar = new MemoryBar;
    bar->setMeasured(measuredMemory());
    bar->setPlanned(plannedMemory());
    auto* box = new QVBoxLayout;
    box->setContentsMargins(12, 0, 12, 12);
    box->setSpacing(0);
    box->addWidget(memory);
    box->addWidget(bar);
    layout->addLayout(box);
    loss->setCrosshair(844.0);
    return charts;
}

QWidget* makeConfusion() {
    auto* view = new ConfusionView;
    view->setCounts(4, {88, 2, 9, 1, 4, 91, 3, 2, 17, 1, 80, 2, 0, 1, 2, 97},
                    {QStringLiteral("Shirt"), QStringLiteral("Sneaker"), QStringLiteral("Coat"),
                     QStringLiteral("Bag")});
    view->setSelected(8);
    return view;
}

QWidget* makeTry() {
    auto* row = new QWidget;
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    auto* pad = new SketchPad;
    pad->setFixedSize(140, 140);
    pad->setImage(samples().front().image);
    layout->addWidget(pad, 0, Qt::AlignTop);
    auto* bars = new ProbabilityBars;
    bars->setBars({{QStringLiteral("Boot"), 0.917},
                   {QStringLiteral("Sneaker"), 0.061},
                   {QStringLiteral("Sandal"), 0.02},
                   {QStringLiteral("Bag"), 0.002},
                   {QStringLiteral("Dress"), 0.0}});
    layout->addWidget(bars, 1, Qt::AlignTop);
    return row;
}

QWidget* makeSide() {
    auto* side = new Surface;
    QVBoxLayout* layout = column(side);
    auto* header = new SectionHeader(QStringLiteral("Samples"));
    header->setSubtitle(QStringLiteral("same images each time"));
    auto* mode = new SegmentedControl({QStringLiteral("Tiles"), QStringLiteral("Confusion")});
    mode->setCompact(true);
    header->addControl(mode);
    layout->addWidget(header);
    auto* steps = new StepDots;
    steps->setSteps({0, 211, 422, 633, 844, 1055, 1266});
    auto* grid = new ImageGrid;
    grid->setColumns(4);
    grid->setImages(samples());
    auto* box = new QVBoxLayout;
    box->setContentsMargins(12, 12, 12, 12);
    box->setSpacing(12);
    box->addWidget(steps);
    box->addWidget(grid);
    box->addWidget(makeTry());
    box->addWidget(makeConfusion());
    layout->addLayout(box);
    layout->addStretch(1);
    QScrollArea* scroll = verticalScroll(side);
    scroll->setFixedWidth(396);
    return scroll;
}

} // namespace

QWidget* makeTrainPage() {
    auto* page = new Surface;
    QVBoxLayout* layout = column(page);
    layout->addWidget(makeNumbers());
    auto* row = new QHBoxLayout;
    row->setSpacing(0);
    row->addWidget(makeCharts(), 1);
    row->addWidget(new Hairline(Qt::Vertical));
    row->addWidget(makeSide());
    layout->addLayout(row, 1);
    return page;
}

} // namespace weft::gallery
