// SPDX-License-Identifier: GPL-3.0-or-later
#include "fake_data.h"
#include "pages.h"

#include "widgets/controls/card.h"
#include "widgets/controls/text_label.h"
#include "widgets/curves/checkpoint_timeline.h"
#include "widgets/curves/line_chart.h"
#include "widgets/curves/lr_curve.h"
#include "widgets/look/icon.h"
#include "widgets/look/style.h"

#include <QFormLayout>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QTreeWidget>
#include <QVBoxLayout>

#include <limits>

namespace weft::gallery {

using namespace widgets;

namespace {

QWidget* makeFolders() {
    auto* side = new Surface;
    side->setFixedWidth(232);
    auto* layout = new QVBoxLayout(side);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(new SectionHeader(QStringLiteral("Folders")));
    auto* tree = new QTreeWidget;
    tree->setHeaderHidden(true);
    tree->setFrameShape(QFrame::NoFrame);
    tree->setIndentation(16);
    auto* root = new QTreeWidgetItem(tree, {QStringLiteral("WeftRuns")});
    root->setIcon(0, icon(QStringLiteral("folder"), Role::Muted));
    for (const char* name : {"gpt-6x384-002", "gpt-6x384-001", "fashion-cnn-003", "house-prices"}) {
        auto* item = new QTreeWidgetItem(root, {QString::fromLatin1(name)});
        item->setIcon(0, icon(QStringLiteral("checkpoint"), Role::Muted));
    }
    root->setExpanded(true);
    tree->setCurrentItem(root->child(0));
    layout->addWidget(tree, 1);
    layout->addWidget(new Hairline);
    auto* disk = new QVBoxLayout;
    disk->setContentsMargins(12, 12, 12, 12);
    disk->addWidget(new TextLabel(QStringLiteral("Disk"), TextStyle::Strong));
    auto* bar = new QProgressBar;
    bar->setRange(0, 100);
    bar->setValue(12);
    bar->setTextVisible(false);
    disk->addWidget(bar);
    auto* text = new TextLabel(QStringLiteral("Retention keeps latest 2 and best 3; pinned and "
                                              "manual ones stay."),
                               TextStyle::Caption, Role::Muted);
    text->setWordWrap(true);
    disk->addWidget(text);
    layout->addLayout(disk);
    return side;
}

QWidget* makeMiddle() {
    auto* middle = new Surface;
    auto* layout = new QVBoxLayout(middle);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    auto* header = new SectionHeader(QStringLiteral("gpt-6x384-002"));
    header->setSubtitle(QStringLiteral("gpt2 6x384 · 10,844,160 parameters · stopped on request "
                                       "at step 3,000 of 5,000"));
    layout->addWidget(header);
    auto* chart = new LineChart;
    chart->setSmoothing(0.95);
    chart->setLogScale(true);
    const Curve loss = lossCurve(3000, 5.5, 1.3, 0.04, 5);
    chart->append(chart->addSeries({QStringLiteral("loss"), {}, 0, SeriesForm::Smoothed,
                                    Qt::SolidLine, true}),
                  loss.x, loss.y);
    const Curve validation = validationCurve(3001, 250, 5.6, 1.42);
    chart->append(chart->addSeries({QStringLiteral("validation"), QStringLiteral("loss"), 0,
                                    SeriesForm::Markers, Qt::SolidLine, true}),
                  validation.x, validation.y);
    chart->setPlannedRange(ChartRange{0, 5000}, 3000.0, QStringLiteral("not trained yet"));
    chart->setSelection(3000.0, QStringLiteral("selected · 3,000"));
    chart->setBest(2750.0, validation.y[11], QStringLiteral("best 1.519"));
    layout->addWidget(chart, 1);
    auto* timeline = new CheckpointTimeline;
    timeline->setRange(-45, 5045);
    timeline->setMargins(48, 16);
    std::vector<TimelineCheckpoint> list;
    for (qint64 step = 250; step <= 3000; step += 250) {
        list.push_back({step, step == 1000 || step >= 2250, step == 2750, step == 1000,
                        QStringLiteral("130.2 MB")});
    }
    timeline->setCheckpoints(list);
    timeline->setSelected(static_cast<int>(list.size()) - 1);
    timeline->setCaptions(QStringLiteral("files"), QStringLiteral("dashed: pruned by retention"));
    layout->addWidget(timeline);
    layout->addWidget(new Hairline);
    auto* empty = new LineChart;
    empty->setOverlayText(QStringLiteral("Compiling the step"),
                          QStringLiteral("1.2 s · the first point follows in about 2 s"));
    empty->setFixedHeight(160);
    layout->addWidget(empty);
    layout->addWidget(new Hairline);
    auto* bad = new LineChart;
    bad->setTitle(QStringLiteral("A run that diverged"));
    Curve diverging = lossCurve(400, 2.3, 0.5, 0.1, 8);
    for (std::size_t i = 360; i < 400; ++i) {
        diverging.y[i] = std::numeric_limits<double>::quiet_NaN();
    }
    bad->setSmoothing(0.8);
    bad->append(bad->addSeries({QStringLiteral("loss"), {}, 1, SeriesForm::Smoothed,
                                Qt::SolidLine, true}),
                diverging.x, diverging.y);
    bad->setEvents({{200, QStringLiteral("resumed"), Role::Muted}});
    bad->setFixedHeight(180);
    layout->addWidget(bad);
    return middle;
}

QWidget* makeResume() {
    auto* side = new Surface;
    side->setFixedWidth(336);
    auto* layout = new QVBoxLayout(side);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    auto* header = new SectionHeader(QStringLiteral("If I resume"));
    header->setTrailing(QStringLiteral("3,000"));
    layout->addWidget(header);
    auto* body = new QVBoxLayout;
    body->setContentsMargins(12, 12, 12, 12);
    body->setSpacing(8);
    auto* form = new QFormLayout;
    form->setVerticalSpacing(6);
    form->setHorizontalSpacing(24);
    const auto line = [form](const char* name, const char* value, Role role = Role::Text) {
        form->addRow(new TextLabel(QString::fromUtf8(name), TextStyle::Body, Role::Muted),
                     new TextLabel(QString::fromUtf8(value), TextStyle::Body, role));
    };
    line("Next sample", "epoch 3 · window 1 of 96,000");
    line("Restored", "weights, moments, random keys");
    line("Result", "bitwise as if never stopped", Role::Success);
    line("Mesh", "saved on 1 device, same here");
    body->addLayout(form);
    body->addSpacing(8);
    auto* rate_header =
        new SectionHeader(QStringLiteral("Learning rate"), SectionHeader::Level::Inline);
    rate_header->setTrailing(QStringLiteral("steps 0 to 5,000"));
    body->addWidget(rate_header);
    auto* curve = new LrCurve;
    const Curve rate = learningRate(0, 5000, 5000, 100, 6e-4);
    curve->setCurve(rate.x, rate.y);
    curve->setReentry(3000.0, QStringLiteral("re-enters at 3.58e-4"));
    body->addWidget(curve);
    body->addStretch(1);
    layout->addLayout(body, 1);
    layout->addWidget(new Hairline);
    auto* actions = new QHBoxLayout;
    actions->setContentsMargins(12, 12, 12, 12);
    actions->setSpacing(8);
    auto* resume = new QPushButton(QStringLiteral("Resume run"));
    resume->setIcon(icon(QStringLiteral("play-filled")));
    setButtonKind(resume, ButtonKind::Primary);
    actions->addWidget(resume, 1);
    auto* fork = new QPushButton(QStringLiteral("Fork…"));
    fork->setIcon(icon(QStringLiteral("fork")));
    actions->addWidget(fork);
    layout->addLayout(actions);
    return side;
}

} // namespace

QWidget* makeCheckpointsPage() {
    auto* page = new Surface;
    auto* layout = new QVBoxLayout(page);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    auto* header = new SectionHeader(QStringLiteral("Checkpoints"), SectionHeader::Level::Page);
    auto* filter = new QLineEdit;
    filter->setPlaceholderText(QStringLiteral("Filter"));
    filter->addAction(icon(QStringLiteral("search"), Role::Muted), QLineEdit::LeadingPosition);
    filter->setFixedWidth(200);
    header->addControl(filter);
    auto* open = new QPushButton(QStringLiteral("Open folder…"));
    open->setIcon(icon(QStringLiteral("folder")));
    header->addControl(open);
    layout->addWidget(header);
    auto* row = new QHBoxLayout;
    row->setSpacing(0);
    row->addWidget(makeFolders());
    row->addWidget(new Hairline(Qt::Vertical));
    row->addWidget(makeMiddle(), 1);
    row->addWidget(new Hairline(Qt::Vertical));
    row->addWidget(makeResume());
    layout->addLayout(row, 1);
    return page;
}

} // namespace weft::gallery
