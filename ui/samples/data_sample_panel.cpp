// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/samples/data_sample_panel.h"

#include "ui/bridge/convert.h"
#include "ui/models/sample_model.h"
#include "ui/pages/table.h"
#include "ui/samples/sample_picture.h"
#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/icon_button.h"
#include "widgets/controls/messages.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/icon.h"
#include "widgets/look/style.h"
#include "widgets/views/image_grid.h"
#include "widgets/views/token_view.h"

#include <QHeaderView>
#include <QLineEdit>
#include <QPushButton>
#include <QShortcut>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

enum SampleSheet { SampleMessageSheet, ImageSheet, SampleTableSheet, TokenSheet };
constexpr int kImages = 60;
constexpr int kSamplePanelRows = 100;
constexpr int kRuns = 12;
constexpr int kSmallPixels = 40; // up to here an image is seen pixel by pixel
constexpr int kSmallCell = 84;
constexpr int kLargeCell = 128;
constexpr int kPlaceWidth = 80;  // "1,000,000" at text size 1
constexpr int kWideHeader = 460; // with room for words on its buttons

int pageSizeOf(SampleForm form) {
    return form == SampleForm::Images     ? kImages
           : form == SampleForm::Features ? kSamplePanelRows
                                          : kRuns;
}

} // namespace

DataSamplePanel::DataSamplePanel(DataPreview& preview, QWidget* parent)
    : QWidget(parent), preview_(preview) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(createHeader());
    says_ = new widgets::TextLabel({}, widgets::TextStyle::Caption, widgets::Role::Muted);
    says_->setObjectName("samplesShown");
    says_->setWordWrap(true);
    says_->setContentsMargins(widgets::space::kGroup, widgets::space::kControl,
                              widgets::space::kGroup, 0);
    column->addWidget(says_);
    stack_ = new QStackedWidget;
    message_ = new widgets::EmptyState("data");
    message_->setObjectName("dataMessage");
    locate_ = message_->addButton(tr("Locate…"));
    locate_->setObjectName("locateData");
    retry_ = message_->addButton(tr("Try again"), false);
    retry_->setObjectName("retryData");
    connect(retry_, &QPushButton::clicked, &preview_, &DataPreview::reopen);
    stop_ = message_->addButton(tr("Stop opening"), false);
    stop_->setObjectName("stopOpening");
    connect(stop_, &QPushButton::clicked, &preview_, &DataPreview::stopOpening);
    stack_->addWidget(message_);
    images_ = new widgets::ImageGrid;
    images_->setObjectName("dataImages");
    images_->setAccessibleName(tr("Samples"));
    auto* padded = new QWidget;
    auto* room = new QVBoxLayout(padded);
    room->setContentsMargins(12, 12, 12, 12);
    room->addWidget(images_);
    room->addStretch(1);
    stack_->addWidget(widgets::verticalScroll(padded));
    model_ = new SampleModel(this);
    table_ = createTable(model_, "dataTable", tr("Samples"));
    table_->setHorizontalScrollBarPolicy(Qt::ScrollBarAsNeeded);
    stack_->addWidget(table_);
    tokens_ = new widgets::TokenView;
    tokens_->setObjectName("dataTokens");
    auto* text = new QWidget;
    auto* text_room = new QVBoxLayout(text);
    text_room->setContentsMargins(12, 12, 12, 12);
    text_room->setSpacing(widgets::space::kGroup);
    legend_ = new widgets::TextLabel(
        tr("Underlined: what is to be learnt (answers, and what ends them). Muted: what is only "
           "read, such as prompts, and padding, which holds nothing."),
        widgets::TextStyle::Caption, widgets::Role::Muted);
    legend_->setObjectName("tokenLegend");
    legend_->setWordWrap(true);
    text_room->addWidget(legend_);
    text_room->addWidget(tokens_);
    text_room->addStretch(1);
    stack_->addWidget(widgets::verticalScroll(text));
    column->addWidget(stack_, 1);
    connect(&preview_, &DataPreview::changed, this, &DataSamplePanel::update);
    connect(&preview_, &DataPreview::samplesChanged, this, &DataSamplePanel::showSamples);
    connect(&preview_.news(), &OpeningNews::changed, this, &DataSamplePanel::showSamples);
    update();
}

QWidget* DataSamplePanel::createHeader() {
    header_ = new widgets::SectionHeader(tr("Samples"));
    using widgets::iconButton;
    constexpr auto kind = widgets::ButtonKind::Normal;
    back_ = iconButton("chevron-left", "samplesBack", tr("Earlier samples (Page Up)"), kind);
    on_ = iconButton("chevron-right", "samplesOn", tr("Later samples (Page Down)"), kind);
    place_ = new QLineEdit;
    place_->setObjectName("samplesPlace");
    place_->setAccessibleName(tr("Go to sample"));
    place_->setToolTip(tr("Number of the first sample shown; type another one to go there"));
    place_->setAlignment(Qt::AlignRight);
    widgets::setCompact(place_);
    reroll_ = new QPushButton(widgets::icon("refresh"), tr("Re-roll"));
    reroll_->setObjectName("reroll");
    reroll_->setAccessibleName(reroll_->text());
    widgets::setCompact(reroll_);
    seen_ = new widgets::SegmentedControl({tr("Raw"), {}});
    seen_->setObjectName("samplesSeen");
    seen_->setAccessibleName(tr("Show rows of the table"));
    seen_->setCompact(true);
    seen_->setCurrentIndex(static_cast<int>(SampleModel::Seen::Raw));
    connect(seen_, &widgets::SegmentedControl::currentIndexChanged, this,
            &DataSamplePanel::showSamples);
    header_->addControl(seen_);
    header_->addControl(back_);
    header_->addControl(place_);
    header_->addControl(on_);
    header_->addControl(reroll_);
    connect(reroll_, &QPushButton::clicked, &preview_, &DataPreview::reroll);
    connect(back_, &QPushButton::clicked, this,
            [this] { preview_.setFirst(preview_.first() - preview_.pageSize()); });
    connect(on_, &QPushButton::clicked, this, [this] {
        if (preview_.first() + preview_.pageSize() < preview_.available()) {
            preview_.setFirst(preview_.first() + preview_.pageSize());
        }
    });
    connect(place_, &QLineEdit::editingFinished, this, [this] { goTo(place_->text()); });
    return header_;
}

// In a narrow page what is shown is said rather than what the button does, which its tooltip says.
void DataSamplePanel::fitHeader() {
    const double scale = widgets::Theme::current().fontScale();
    place_->setFixedWidth(static_cast<int>(kPlaceWidth * scale));
    const bool wide = width() >= kWideHeader * scale;
    reroll_->setText(wide ? reroll_->accessibleName() : QString());
    seen_->setSegmentText(static_cast<int>(SampleModel::Seen::ByNetwork),
                          wide ? tr("As the network sees it") : tr("Network"));
}

void DataSamplePanel::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    fitHeader();
}

void DataSamplePanel::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::PaletteChange) {
        fitHeader();
        if (table_ != nullptr) { // it has its new font by now
            table_->resizeColumnsToContents();
        }
    }
}

/// What cannot be read as a number leaves everything as it is.
void DataSamplePanel::goTo(const QString& number) {
    bool well = false;
    const qlonglong wanted = QString(number).remove(QLatin1Char(',')).trimmed().toLongLong(&well);
    if (well) {
        preview_.setFirst(wanted);
    }
    describe();
}

void DataSamplePanel::update() {
    if (const auto facts = preview_.facts(); facts && facts->problem.isEmpty()) {
        preview_.setPageSize(pageSizeOf(formOf(facts->info)));
    }
    showSamples();
}

void DataSamplePanel::describe() {
    const auto facts = preview_.facts();
    const bool shown = facts && facts->problem.isEmpty();
    const std::int64_t all = preview_.available();
    const std::int64_t first = preview_.first();
    const std::int64_t last = std::min(all, first + preview_.pageSize());
    QStringList parts;
    if (shown && all > 0) {
        parts << (preview_.chosenClass() < 0
                      ? tr("%1 to %2 of %3")
                            .arg(formatCount(first), formatCount(last - 1), formatCount(all))
                      : tr("%1 to %2 of %3, only %4")
                            .arg(formatCount(first), formatCount(last - 1), formatCount(all),
                                 className(facts->info, preview_.chosenClass())));
    }
    const bool training = preview_.split() == DataSplit::Train;
    if (shown && training && preview_.isRandom()) {
        parts << tr("as in epoch %1 with seed %2")
                     .arg(formatCount(preview_.epoch()))
                     .arg(preview_.context().seed);
    }
    if (shown && formOf(facts->info) == SampleForm::Images && !preview_.samples().empty()) {
        const auto [low, high] = valueRange(preview_.samples());
        parts << tr("black %1, white %2")
                     .arg(widgets::formatNumber(static_cast<double>(low)),
                          widgets::formatNumber(static_cast<double>(high)));
    }
    says_->setText(parts.join(QStringLiteral(" · ")));
    says_->setVisible(!parts.isEmpty());
    back_->setEnabled(shown && first > 0);
    on_->setEnabled(shown && last < all);
    place_->setEnabled(shown && all > 0);
    if (!place_->hasFocus() || !place_->isModified()) {
        place_->setText(shown ? formatCount(first) : QString());
    }
    const bool rolls = shown && training && preview_.isRandom();
    seen_->setVisible(shown && !facts->columns.empty());
    reroll_->setEnabled(rolls);
    reroll_->setToolTip(rolls ? tr("The same samples as the next epoch sees them (R)")
                        : !training
                            ? tr("Only training samples are changed at random")
                            : tr("Nothing of this draft is random: every epoch sees the same"));
}

void DataSamplePanel::showMessage() {
    stack_->setCurrentIndex(SampleMessageSheet);
    const bool missing = !preview_.missing().empty();
    QString title;
    QString text;
    QString icon = "problems";
    const auto facts = preview_.facts();
    using State = DataPreview::State;
    const bool failed = preview_.state() == State::Failed || (facts && !facts->problem.isEmpty());
    if (failed && missing) {
        title = tr("The data is not where it was");
        text = pathText(preview_.missing().front().path);
    } else if (failed) {
        title = facts ? tr("This split cannot be opened") : tr("The data cannot be opened");
        text = (facts ? facts->problem + "\n" + facts->hint
                      : preview_.problem() + "\n" + preview_.hint())
                   .trimmed();
    } else if (preview_.state() == State::Invalid) {
        title = tr("The data settings have a problem");
        text = (preview_.problem() + "\n" + preview_.hint()).trimmed();
    } else if (preview_.state() == State::Stopped) {
        icon = "data";
        title = tr("Opening was stopped");
        text = preview_.problem();
    } else {
        icon = "data";
        title =
            preview_.state() == State::Empty ? tr("No samples to show") : tr("Opening the data…");
        text = preview_.news().text();
    }
    message_->setIconName(icon);
    message_->setTitle(title);
    message_->setText(text);
    locate_->setVisible(failed && missing);
    retry_->setVisible(failed || preview_.state() == State::Stopped);
    stop_->setVisible(preview_.news().isSlow());
}

void DataSamplePanel::showSamples() {
    describe();
    const auto facts = preview_.facts();
    if (!facts || !facts->problem.isEmpty()) {
        showMessage();
        return;
    }
    if (preview_.isReading()) {
        return; // those of before stand until the new ones are there
    }
    switch (formOf(facts->info)) {
    case SampleForm::Images: showImages(); break;
    case SampleForm::Features: showRows(); break;
    case SampleForm::Tokens: showTokens(); break;
    }
}

void DataSamplePanel::showRows() {
    model_->setSamples(preview_.facts(), preview_.samples(),
                       static_cast<SampleModel::Seen>(seen_->currentIndex()));
    table_->resizeColumnsToContents();
    stack_->setCurrentIndex(SampleTableSheet);
}

void DataSamplePanel::showImages() {
    const auto facts = preview_.facts();
    const auto [low, high] = valueRange(preview_.samples());
    std::vector<widgets::GridImage> images;
    for (const SampleView& sample : preview_.samples()) {
        widgets::GridImage image;
        image.value = formatCount(sample.index);
        if (sample.problem.isEmpty()) {
            image.image = pictureOf(sample, facts->info.input.shape, low, high);
            const QStringList classes = classesOf(facts->info, sample);
            image.caption = facts->labels || classes.size() > 1 ? classes.front() : QString();
            image.note = classes.value(1);
        } else {
            image.wrong = true;
            image.caption = tr("cannot be read");
            image.note = sample.problem;
        }
        images.push_back(std::move(image));
    }
    const ir::Shape& shape = facts->info.input.shape;
    images_->setCellWidth(std::max(shape[0], shape[1]) > kSmallPixels ? kLargeCell : kSmallCell);
    images_->setImages(std::move(images));
    stack_->setCurrentIndex(ImageSheet);
}

void DataSamplePanel::showTokens() {
    const auto facts = preview_.facts();
    const tokenizer::Tokenizer* tokenizer = facts ? facts->info.tokenizer.get() : nullptr;
    std::vector<widgets::TokenRun> runs;
    for (const SampleView& sample : preview_.samples()) {
        runs.push_back(runOf(sample, tokenizer));
    }
    legend_->setVisible(std::any_of(runs.begin(), runs.end(), [](const widgets::TokenRun& run) {
        return !run.stretches.empty();
    }));
    tokens_->setRuns(std::move(runs));
    stack_->setCurrentIndex(TokenSheet);
}

} // namespace weft::ui
