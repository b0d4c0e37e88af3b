// SPDX-License-Identifier: GPL-3.0-or-later
#include "fake_data.h"
#include "pages.h"

#include "widgets/controls/card.h"
#include "widgets/controls/pill.h"
#include "widgets/controls/text_label.h"
#include "widgets/curves/line_chart.h"
#include "widgets/look/icon.h"
#include "widgets/look/painting.h"
#include "widgets/look/style.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QPushButton>
#include <QStandardItemModel>
#include <QTableView>
#include <QVBoxLayout>

namespace weft::gallery {

using namespace widgets;

namespace {

constexpr int kSparkRole = Qt::UserRole + 1;

class PillDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        const QString text = index.data().toString();
        const Role role = text == QStringLiteral("finished")   ? Role::Success
                          : text == QStringLiteral("diverged") ? Role::Error
                                                               : Role::Muted;
        paintPill(*painter, QRectF(option.rect).adjusted(4, 0, -4, 0), text, role);
    }
};

QWidget* makeDemoCard() {
    auto* card = new Card;
    auto* layout = new QVBoxLayout(card);
    layout->setContentsMargins(24, 20, 24, 20);
    layout->setSpacing(8);
    layout->addWidget(new TextLabel(QStringLiteral("Teach it to recognise clothes"),
                                    TextStyle::Title));
    layout->addWidget(new TextLabel(QStringLiteral("A small network learns ten kinds of clothing "
                                                   "from 54,000 pictures, on this machine, while "
                                                   "you watch."),
                                    TextStyle::Body, Role::Muted));
    auto* middle = new QHBoxLayout;
    middle->setSpacing(24);
    auto* grid = new ImageGrid;
    grid->setCentredCaptions(true);
    grid->setCellWidth(56);
    grid->setColumns(5);
    std::vector<GridImage> images = samples();
    images.resize(10);
    for (GridImage& image : images) {
        image.wrong = false;
        image.note.clear();
    }
    grid->setImages(images);
    grid->setFixedWidth(320);
    auto* chart = new LineChart;
    chart->setSmoothing(0.9);
    chart->setLogScale(true);
    chart->setXKind(LineChart::XKind::Seconds);
    const Curve curve = lossCurve(30, 2.2, 0.4, 0.08, 4);
    chart->append(chart->addSeries({QStringLiteral("loss"), {}, 0, SeriesForm::Smoothed,
                                    Qt::SolidLine, true}),
                  curve.x, curve.y);
    chart->setBest(29.0, 1.37);
    middle->addWidget(grid);
    middle->addWidget(chart, 1);
    layout->addLayout(middle, 1);
    auto* actions = new QHBoxLayout;
    actions->setSpacing(12);
    auto* run = new QPushButton(QStringLiteral("Run the demo · 30 s"));
    run->setIcon(icon(QStringLiteral("play-filled")));
    run->setMinimumHeight(36);
    setButtonKind(run, ButtonKind::Primary);
    actions->addWidget(run);
    actions->addWidget(new TextLabel(QStringLiteral("needs no GPU, no download, no account"),
                                     TextStyle::Caption, Role::Muted));
    actions->addStretch(1);
    actions->addWidget(new TextLabel(QStringLiteral("What will happen?"), TextStyle::Body,
                                     Role::Accent));
    layout->addLayout(actions);
    return card;
}

QWidget* makeDropCard() {
    auto* zone = new DropZone;
    auto* layout = new QVBoxLayout(zone);
    layout->setContentsMargins(24, 20, 24, 20);
    layout->setSpacing(8);
    layout->addWidget(new TextLabel(QStringLiteral("Train on my data…"), TextStyle::Heading));
    auto* text = new TextLabel(QStringLiteral("Drop a file or a folder. Weft says what it found "
                                              "before anything starts."),
                               TextStyle::Body, Role::Muted);
    text->setWordWrap(true);
    layout->addWidget(text);
    layout->addStretch(1);
    auto* sign = new QPushButton;
    sign->setIcon(icon(QStringLiteral("drop"), Role::Accent));
    sign->setIconSize(QSize(32, 32));
    sign->setFixedSize(40, 40);
    setButtonKind(sign, ButtonKind::Flat);
    layout->addWidget(sign, 0, Qt::AlignHCenter);
    auto* here = new TextLabel(QStringLiteral("Drop here"), TextStyle::Strong);
    layout->addWidget(here, 0, Qt::AlignHCenter);
    auto* tags = new QHBoxLayout;
    tags->setSpacing(4);
    tags->addStretch(1);
    for (const char* name : {"csv", "images/", "jsonl", "text", "npy", "hdf5", "idx"}) {
        auto* tag = new Badge(QString::fromLatin1(name));
        tag->setTag(true);
        tags->addWidget(tag);
    }
    tags->addStretch(1);
    layout->addLayout(tags);
    layout->addStretch(1);
    auto* choose = new QPushButton(QStringLiteral("Choose…"));
    choose->setIcon(icon(QStringLiteral("folder")));
    layout->addWidget(choose, 0, Qt::AlignLeft);
    return zone;
}

QWidget* makePreset(const QString& name, const QString& weights, const QString& data,
                    const QString& time, bool slow) {
    auto* card = new Card;
    card->setClickable(true);
    auto* layout = new QVBoxLayout(card);
    layout->setContentsMargins(16, 12, 16, 12);
    layout->setSpacing(4);
    auto* top = new QHBoxLayout;
    top->addWidget(new TextLabel(name, TextStyle::Strong));
    top->addStretch(1);
    top->addWidget(new TextLabel(weights, TextStyle::Mono, Role::Muted));
    layout->addLayout(top);
    layout->addWidget(new ElidedLabel(data, TextStyle::Caption, Role::Muted));
    layout->addSpacing(8);
    layout->addWidget(new TextLabel(time, TextStyle::Mono));
    auto* badge = new Badge(slow ? QStringLiteral("fits, but slow")
                                 : QStringLiteral("fits this machine"),
                            slow ? Role::Warning : Role::Success);
    badge->setIconName(slow ? QStringLiteral("clock") : QStringLiteral("check"));
    layout->addWidget(badge, 0, Qt::AlignLeft);
    return card;
}

QTableView* makeRuns() {
    auto* model = new QStandardItemModel(0, 6);
    model->setHorizontalHeaderLabels(
        {QStringLiteral("run"), QStringLiteral("model and data"), QStringLiteral("loss"),
         QStringLiteral("state"), QStringLiteral("best"), QStringLiteral("step")});
    const auto add = [model](const char* run, const char* what, const char* state,
                             const char* best, const char* step, const SparklineData& data) {
        QList<QStandardItem*> row;
        for (const char* text : {run, what, "", state, best, step}) {
            row.append(new QStandardItem(QString::fromUtf8(text)));
        }
        row[0]->setFont(Theme::current().font(TextStyle::Strong));
        row[2]->setData(QVariant::fromValue(data), kSparkRole);
        for (int i : {4, 5}) {
            row[i]->setFont(Theme::current().font(TextStyle::Mono));
            row[i]->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
        }
        model->appendRow(row);
    };
    add("gpt-6x384-002", "gpt2 · text, 24.6 MB", "stopped", "1.519", "3,000 / 5,000",
        sparkline(60, 0.6, false, 1));
    add("fashion-cnn-003", "cnn · Fashion-MNIST", "finished", "0.903", "2,110 / 2,110",
        sparkline(60, 1.0, false, 2));
    add("fashion-mlp-002", "mlp · Fashion-MNIST", "finished", "0.892", "1,055 / 1,055",
        sparkline(60, 1.0, false, 3));
    add("gpt-6x384-001", "gpt2 · text, 24.6 MB", "diverged", "2.310", "412 / 5,000",
        sparkline(30, 0.3, true, 4));
    for (int i : {4, 5}) {
        model->setHeaderData(i, Qt::Horizontal, QVariant(Qt::AlignRight | Qt::AlignVCenter),
                             Qt::TextAlignmentRole);
    }
    auto* table = new QTableView;
    model->setParent(table);
    table->setModel(model);
    table->setItemDelegateForColumn(2, new SparklineDelegate(kSparkRole, table));
    table->setItemDelegateForColumn(3, new PillDelegate(table));
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->setShowGrid(false);
    table->verticalHeader()->hide();
    table->verticalHeader()->setDefaultSectionSize(36);
    table->horizontalHeader()->setSectionResizeMode(1, QHeaderView::Stretch);
    table->horizontalHeader()->setHighlightSections(false);
    table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    constexpr int kWidths[] = {180, 200, 140, 110, 110, 140};
    for (int i = 0; i < 6; ++i) {
        table->setColumnWidth(i, kWidths[i]);
    }
    return table;
}

} // namespace

QWidget* makeHomePage() {
    auto* page = new Surface(Role::Background);
    auto* layout = new QVBoxLayout(page);
    layout->setContentsMargins(24, 16, 24, 16);
    layout->setSpacing(8);
    auto* top = new QHBoxLayout;
    top->setSpacing(16);
    top->addWidget(makeDemoCard(), 7);
    top->addWidget(makeDropCard(), 4);
    layout->addLayout(top, 2);
    auto* presets = new SectionHeader(QStringLiteral("Start from a preset"),
                                      SectionHeader::Level::Section);
    presets->setTrailing(QStringLiteral("times measured on this machine"));
    layout->addWidget(presets);
    auto* row = new QHBoxLayout;
    row->setSpacing(12);
    row->addWidget(makePreset(QStringLiteral("MLP"), QStringLiteral("669,706"),
                              QStringLiteral("Fashion-MNIST"), QStringLiteral("40 s"), false));
    row->addWidget(makePreset(QStringLiteral("CNN"), QStringLiteral("421,642"),
                              QStringLiteral("Fashion-MNIST"), QStringLiteral("4 min"), false));
    row->addWidget(makePreset(QStringLiteral("Tiny GPT"), QStringLiteral("0.86 M"),
                              QStringLiteral("your text, byte by byte"), QStringLiteral("6 min"),
                              false));
    row->addWidget(makePreset(QStringLiteral("GPT 6x384"), QStringLiteral("10.84 M"),
                              QStringLiteral("your text, byte by byte"), QStringLiteral("52 min"),
                              false));
    row->addWidget(makePreset(QStringLiteral("GPT-2 124M"), QStringLiteral("124.4 M"),
                              QStringLiteral("needs a GPU or patience"), QStringLiteral("9 days"),
                              true));
    layout->addLayout(row);
    auto* recent =
        new SectionHeader(QStringLiteral("Recent runs"), SectionHeader::Level::Section);
    recent->setTrailing(QStringLiteral("All runs"), Role::Accent);
    layout->addWidget(recent);
    layout->addWidget(makeRuns(), 2);
    return page;
}

} // namespace weft::gallery
