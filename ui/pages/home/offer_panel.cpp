// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/home/offer_panel.h"

#include "ui/bridge/convert.h"
#include "ui/forms/number_text.h"
#include "ui/models/column_model.h"
#include "ui/pages/table.h"
#include "ui/samples/class_panel.h"
#include "ui/samples/data_sample_panel.h"
#include "ui/studio.h"
#include "widgets/controls/arranging.h"
#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/figure_strip.h"
#include "widgets/controls/icon_label.h"
#include "widgets/controls/messages.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/icon.h"
#include "widgets/look/style.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QPushButton>
#include <QScrollArea>
#include <QShortcut>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextLabel;
using widgets::TextStyle;

enum OfferStackSheet { LookingSheet, NothingSheet, FoundSheet, WantedSheet };
constexpr int kOfferPageSideWidth = 512; // at text size 1; a column with its examples
constexpr int kTwoPartsWidth = 960;      // likewise
constexpr int kSamplesHeight = 320;      // likewise; below what was found
constexpr int kOfferPageMostNotes = 12;
constexpr int kMostColumns = 14; // seen at a time
using widgets::space::kTight;

QWidget* line(const QString& text, const char* icon, Role role) {
    auto* row = new QWidget;
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(widgets::space::kControl);
    layout->addWidget(new widgets::IconLabel(icon, role), 0, Qt::AlignTop);
    auto* words = new TextLabel(text, TextStyle::Body, role == Role::Accent ? Role::Text : role);
    words->setWordWrap(true);
    layout->addWidget(words, 1);
    return row;
}

/// "cnn", "128", "5 epochs", "0.001": what a run is told by.
std::vector<widgets::Figure> figuresOf(const config::Json& document,
                                       const std::filesystem::path& base_dir) {
    const compile::CheckedRun checked = compile::read_run_config(
        document, base_dir, {}, [](const auto&, const auto&) { return std::nullopt; });
    if (!checked.ok()) {
        return {};
    }
    const compile::RunConfig& run = checked.config;
    const config::Json& length = run.section("training").at("length");
    return {{toQString(run.section("model").at("type").get<std::string>()),
             OfferPanel::tr("model"),
             {}},
            {numberText(length.begin().value()), toQString(length.begin().key()), {}},
            {numberText(run.section("training").at("global_batch_size")),
             OfferPanel::tr("samples an update"),
             {}},
            {numberText(run.section("optimizer").at("learning_rate")),
             OfferPanel::tr("learning rate"),
             {}}};
}

} // namespace

OfferPanel::OfferPanel(Studio& studio, QWidget* parent) : QWidget(parent), studio_(studio) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    header_ =
        new widgets::SectionHeader(tr("Train on my data"), widgets::SectionHeader::Level::Page);
    auto* back = new QPushButton(widgets::icon("chevron-left"), tr("Back"));
    back->setObjectName("offerBack");
    back->setToolTip(tr("Back to Home; nothing is changed (Esc)"));
    connect(back, &QPushButton::clicked, this, &OfferPanel::closed);
    header_->addControl(back);
    column->addWidget(header_);
    progress_ = new widgets::ProgressLine;
    progress_->setAccessibleName(tr("Looking at the files"));
    column->addWidget(progress_);
    stack_ = new QStackedWidget;
    looking_ = new widgets::EmptyState("search", tr("Looking at the files…"));
    looking_->setObjectName("offerLooking");
    stop_ = looking_->addButton(tr("Stop"), false);
    stop_->setObjectName("offerStop");
    connect(stop_, &QPushButton::clicked, this, &OfferPanel::closed);
    stack_->addWidget(looking_);
    nothing_ = new widgets::EmptyState("problems");
    nothing_->setObjectName("offerNothing");
    QPushButton* leave = nothing_->addButton(tr("Back to Home"));
    connect(leave, &QPushButton::clicked, this, &OfferPanel::closed);
    stack_->addWidget(nothing_);
    auto* body = new QWidget;
    parts_ = new QHBoxLayout(body);
    parts_->setContentsMargins(0, 0, 0, 0);
    parts_->setSpacing(0);
    auto* settings = new widgets::Surface;
    settings_ = new QVBoxLayout(settings);
    settings_->setContentsMargins(0, 0, 0, 0);
    settings_->setSpacing(0);
    settings_->addWidget(createFound());
    settings_->addWidget(createRun());
    settings_->addWidget(createClasses());
    settings_->addStretch(1);
    scroll_ = widgets::verticalScroll(settings);
    scroll_->setObjectName("offerSettings");
    parts_->addWidget(scroll_, 2);
    between_ = new widgets::Hairline(Qt::Vertical);
    parts_->addWidget(between_);
    samples_ = new DataSamplePanel(offer_.preview());
    samples_->setObjectName("offerSamples");
    parts_->addWidget(samples_, 3);
    stack_->addWidget(body);
    stack_->addWidget(createWanted());
    column->addWidget(stack_, 1);
    column->addWidget(new widgets::Hairline);
    column->addWidget(createFooter());
    auto* escape = new QShortcut(QKeySequence(Qt::Key_Escape), this);
    escape->setContext(Qt::WidgetWithChildrenShortcut);
    connect(escape, &QShortcut::activated, this, &OfferPanel::closed);
    connect(&offer_, &DataOffer::changed, this, &OfferPanel::update);
    connect(&offer_.preview(), &DataPreview::changed, this, [this] {
        if (offer_.state() == DataOffer::State::Found) {
            updateNotes();
        }
    });
    connect(&studio_, &Studio::trainingChanged, this, &OfferPanel::updateStart);
    connect(&studio_.draft(), &Draft::looked, this, &OfferPanel::goOn);
    update();
}

QWidget* OfferPanel::createFound() {
    auto* part = new QWidget;
    auto* column = new QVBoxLayout(part);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(new widgets::SectionHeader(tr("What was found")));
    auto* room = new QVBoxLayout;
    room->setContentsMargins(16, 12, 16, 12);
    room->setSpacing(widgets::space::kControl);
    formats_place_ = new QVBoxLayout;
    room->addLayout(formats_place_);
    summary_ = new TextLabel({}, TextStyle::Strong);
    summary_->setObjectName("offerSummary");
    summary_->setWordWrap(true);
    room->addWidget(summary_);
    notes_ = new QVBoxLayout;
    notes_->setSpacing(widgets::space::kTight);
    room->addLayout(notes_);
    column->addLayout(room);
    columns_part_ = new QWidget;
    auto* columns = new QVBoxLayout(columns_part_);
    columns->setContentsMargins(0, 0, 0, 0);
    columns->setSpacing(0);
    auto* header = new widgets::SectionHeader(tr("What is predicted"));
    header->setSubtitle(tr("tick a column; the others go in"));
    columns->addWidget(header);
    columns_ = new ColumnModel(this);
    table_ = createTable(columns_, "offerColumns", tr("Columns"));
    table_->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    columns->addWidget(table_);
    connect(columns_, &ColumnModel::targetsChosen, &offer_, &DataOffer::setTargets);
    column->addWidget(columns_part_);
    return part;
}

QWidget* OfferPanel::createWanted() {
    wanted_ = new widgets::EmptyState("data", tr("What should it learn?"));
    wanted_->setObjectName("offerWanted");
    const auto add = [this](const QString& text, const char* name, bool folder) {
        QPushButton* button = wanted_->addButton(text, !folder);
        button->setObjectName(name);
        connect(button, &QPushButton::clicked, this, [this, folder] { emit dataWanted(folder); });
    };
    add(tr("A file…"), "tuneFile", false);
    add(tr("A folder…"), "tuneFolder", true);
    return wanted_;
}

// Whose weights, and what of them is trained.
QWidget* OfferPanel::createTuning() {
    tuning_part_ = new QWidget;
    auto* column = new QVBoxLayout(tuning_part_);
    column->setContentsMargins(16, 12, 16, 0);
    column->setSpacing(widgets::space::kControl);
    weights_ = new widgets::ElidedLabel({}, TextStyle::Body);
    weights_->setObjectName("offerWeights");
    column->addWidget(weights_);
    tuning_ = new widgets::SegmentedControl({tr("Low-rank factors"), tr("All weights")});
    tuning_->setObjectName("offerTuning");
    tuning_->setAccessibleName(tr("What is trained"));
    connect(tuning_, &widgets::SegmentedControl::currentIndexChanged, this, [this](int index) {
        offer_.setTuning(index == 0 ? advise::Tuning::factors : advise::Tuning::all);
    });
    column->addWidget(tuning_, 0, Qt::AlignLeft);
    return tuning_part_;
}

QWidget* OfferPanel::createRun() {
    auto* part = new QWidget;
    auto* column = new QVBoxLayout(part);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* header = new widgets::SectionHeader(tr("Suggested run"));
    header->setSubtitle(tr("everything can be changed"));
    column->addWidget(header);
    column->addWidget(createTuning());
    auto* strip = new QVBoxLayout;
    strip->setContentsMargins(16, 12, 16, 0);
    figures_ = new widgets::FigureStrip;
    figures_->setObjectName("offerFigures");
    figures_->setAccessibleName(tr("The suggested run"));
    strip->addWidget(figures_);
    column->addLayout(strip);
    reasons_ = new QVBoxLayout;
    reasons_->setContentsMargins(16, 12, 16, 12);
    reasons_->setSpacing(widgets::space::kControl);
    column->addLayout(reasons_);
    return part;
}

QWidget* OfferPanel::createClasses() {
    auto* place = new QWidget;
    auto* column = new QVBoxLayout(place);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(new ClassPanel(offer_.preview()));
    connect(&offer_.preview(), &DataPreview::changed, place, [this, place] {
        const auto facts = offer_.preview().facts();
        place->setVisible(facts && facts->labels != nullptr);
    });
    place->hide();
    return place;
}

QWidget* OfferPanel::createFooter() {
    auto* footer = new widgets::Surface;
    auto* row = new QHBoxLayout(footer);
    row->setContentsMargins(16, 8, 16, 8);
    row->setSpacing(widgets::space::kGroup);
    why_ = new widgets::ElidedLabel({}, TextStyle::Caption, Role::Muted);
    row->addWidget(why_, 1);
    edit_ = new QPushButton(tr("Edit first"));
    edit_->setObjectName("offerEdit");
    edit_->setToolTip(tr("Makes this run the draft and shows its data"));
    connect(edit_, &QPushButton::clicked, this, [this] {
        if (makeDraft()) {
            emit editing();
        }
    });
    row->addWidget(edit_);
    start_ = new QPushButton(widgets::icon("play-filled", Role::OnAccent), tr("Start training"));
    start_->setObjectName("offerStart");
    start_->setMinimumHeight(36);
    start_->setMinimumWidth(168);
    widgets::setButtonKind(start_, widgets::ButtonKind::Primary);
    connect(start_, &QPushButton::clicked, this, &OfferPanel::start);
    row->addWidget(start_);
    return footer;
}

void OfferPanel::look(const std::filesystem::path& path) {
    offer_.look(path);
}

void OfferPanel::tune(const std::filesystem::path& weights) {
    offer_.setWeights(weights);
}

void OfferPanel::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    offer_.preview().setActive(true);
}

void OfferPanel::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    offer_.preview().setActive(false);
    starting_ = false;
}

// In a narrow window, or with large text, the samples stand below what was found and all of it
// scrolls as one.
void OfferPanel::arrange() {
    const double scale = widgets::Theme::current().fontScale();
    const bool wide = width() >= kTwoPartsWidth * scale;
    scroll_->setMinimumWidth(wide ? static_cast<int>(kOfferPageSideWidth * scale) : 0);
    samples_->setMinimumHeight(wide ? 0 : static_cast<int>(kSamplesHeight * scale));
    between_->setVisible(wide);
    if (wide != (parts_->indexOf(samples_) >= 0)) {
        wide ? parts_->addWidget(samples_, 3) : settings_->addWidget(samples_, 1);
    }
}

void OfferPanel::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    arrange();
}

// What is on the page has its new font by now.
void OfferPanel::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange && samples_ != nullptr) {
        arrange();
        fitRows();
    }
}

void OfferPanel::update() {
    const DataOffer::State state = offer_.state();
    const bool found = state == DataOffer::State::Found;
    const bool tunes = !offer_.weights().empty();
    header_->setTitle(tunes ? tr("Fine-tune") : tr("Train on my data"));
    header_->setSubtitle(pathText(offer_.path()));
    const OpeningNews& news = offer_.news();
    const bool busy = state == DataOffer::State::Looking || offer_.isWorking();
    progress_->setBusy(busy && news.share() < 0);
    progress_->setProgress(news.share());
    looking_->setText(news.isSlow() ? news.text()
                                    : tr("Nothing is changed and nothing is sent anywhere."));
    stop_->setVisible(news.isSlow());
    stack_->setCurrentIndex(found                                      ? FoundSheet
                            : state == DataOffer::State::Nothing       ? NothingSheet
                            : state == DataOffer::State::None && tunes ? WantedSheet
                                                                       : LookingSheet);
    updateTuning();
    if (state == DataOffer::State::Nothing) {
        updateNothing();
    }
    if (found) {
        updateFormats();
        updateFound();
        updateRun();
    }
    updateStart();
}

void OfferPanel::updateNothing() {
    QStringList problems;
    for (const std::string& problem : offer_.problems()) {
        problems << toQString(problem);
    }
    std::error_code ignored;
    if (std::filesystem::is_directory(offer_.path(), ignored)) {
        problems << tr("There is no run in it either.");
    }
    nothing_->setTitle(
        tr("Nothing to train on was found in %1")
            .arg(pathText(offer_.path().has_filename() ? offer_.path().filename()
                                                       : offer_.path().parent_path().filename())));
    nothing_->setText(problems.join('\n'));
}

void OfferPanel::updateTuning() {
    const std::filesystem::path& weights = offer_.weights();
    tuning_part_->setVisible(!weights.empty());
    weights_->setText(tr("It goes on from %1").arg(pathText(weights)));
    wanted_->setText(tr("Drop a file or a folder here, or choose one. The weights of %1 are only "
                        "read.")
                         .arg(pathText(weights)));
    const QSignalBlocker blocker(tuning_);
    tuning_->setCurrentIndex(offer_.tuning() == advise::Tuning::factors ? 0 : 1);
}

// More than one way to read it: a choice.
void OfferPanel::updateFormats() {
    const auto& formats = offer_.formats();
    if (formats_ != nullptr && formats_->count() == static_cast<int>(formats.size())) {
        const QSignalBlocker blocker(formats_);
        formats_->setCurrentIndex(static_cast<int>(offer_.chosen()));
        return;
    }
    widgets::clearLayout(*formats_place_);
    formats_ = nullptr;
    if (formats.size() < 2) {
        return;
    }
    QStringList names;
    for (const data::Recognised& format : formats) {
        names << toQString(format.format);
    }
    formats_ = new widgets::SegmentedControl(names);
    formats_->setObjectName("offerFormat");
    formats_->setAccessibleName(tr("How the files are read"));
    formats_->setCurrentIndex(static_cast<int>(offer_.chosen()));
    connect(formats_, &widgets::SegmentedControl::currentIndexChanged, this,
            [this](int index) { offer_.choose(static_cast<std::size_t>(index)); });
    formats_place_->addWidget(formats_, 0, Qt::AlignLeft);
}

void OfferPanel::updateFound() {
    const data::Recognised& found = offer_.found();
    summary_->setText(toQString(found.summary));
    updateNotes();
    columns_part_->setVisible(!found.columns.empty());
    columns_->setColumns(found.columns, offer_.targets());
    fitColumns(table_, ColumnModel::ExampleColumn);
    fitRows();
}

// All of a usual table is seen, a line for each column.
void OfferPanel::fitRows() {
    table_->resizeRowsToContents();
    int height = table_->horizontalHeader()->sizeHint().height() + kTight;
    for (int row = 0; row < std::min(columns_->rowCount(), kMostColumns); ++row) {
        height += table_->rowHeight(row);
    }
    table_->setFixedHeight(height);
}

void OfferPanel::updateNotes() {
    const data::Recognised& found = offer_.found();
    widgets::clearLayout(*notes_);
    for (const std::string& problem : found.problems) {
        notes_->addWidget(line(toQString(problem), "error", Role::Error));
    }
    // What is wrong with single files or rows is known once they were opened.
    const bool opened = offer_.run() && offer_.preview().state() == DataPreview::State::Ready;
    data::Notes all = found.notes;
    if (opened) {
        for (const data::Note& note : offer_.preview().notes()) {
            if (std::find(all.begin(), all.end(), note) == all.end()) {
                all.push_back(note);
            }
        }
    }
    const auto notes = static_cast<int>(all.size());
    for (int i = 0; i < std::min(notes, kOfferPageMostNotes); ++i) {
        notes_->addWidget(line(toQString(all[static_cast<std::size_t>(i)]), "info", Role::Muted));
    }
    if (notes > kOfferPageMostNotes) {
        notes_->addWidget(
            line(tr("and %1 more notes").arg(formatCount(notes - kOfferPageMostNotes)), "info",
                 Role::Muted));
    }
    if (opened) {
        const data::DataSet& set = offer_.preview().set();
        const std::int64_t train = set.train->samples();
        const std::int64_t validation = set.validation == nullptr ? 0 : set.validation->samples();
        notes_->addWidget(line(tr("Opened: %1 samples to train with, %2 to validate")
                                   .arg(formatCount(train), formatCount(validation)),
                               "check", Role::Success));
    }
}

void OfferPanel::updateRun() {
    widgets::clearLayout(*reasons_);
    figures_->setVisible(offer_.run().has_value());
    if (offer_.run()) {
        figures_->setFigures(figuresOf(offer_.run()->document, offer_.path().parent_path()));
    }
    if (!offer_.runProblem().isEmpty()) {
        reasons_->addWidget(line(offer_.runProblem(), "error", Role::Error));
    } else if (offer_.run()) {
        for (const std::string& reason : offer_.run()->reasons) {
            reasons_->addWidget(line(toQString(reason), "check", Role::Accent));
        }
    } else {
        reasons_->addWidget(line(
            offer_.isWorking() ? (tr("Working it out…") + '\n' + offer_.news().text()).trimmed()
                               : tr("Choose something that can be read first."),
            "info", Role::Muted));
    }
}

void OfferPanel::updateStart() {
    const bool ready =
        offer_.state() == DataOffer::State::Found && offer_.run() && !offer_.isWorking();
    const bool free = !studio_.isTraining();
    start_->setEnabled(ready && free && !starting_);
    edit_->setEnabled(ready);
    start_->setToolTip(free ? QString()
                            : tr("%1 is still training. Stop it first.").arg(studio_.run().name()));
    why_->setText(!ready ? QString()
                  : free ? tr("Start makes this run the draft and trains it; your files are only "
                              "read.")
                         : tr("%1 is still training. Stop it first.").arg(studio_.run().name()));
}

bool OfferPanel::makeDraft() {
    if (!offer_.run()) {
        return false;
    }
    studio_.draft().setDocument(offer_.run()->document, offer_.path().parent_path());
    return true;
}

void OfferPanel::start() {
    if (makeDraft()) {
        starting_ = true;
        goOn();
    }
}

// What the run leaves to its data is known first.
void OfferPanel::goOn() {
    updateStart();
    if (!starting_ || studio_.draft().isLooking()) {
        return;
    }
    starting_ = false;
    const StartResult result = studio_.control().startDraft();
    if (result.started) {
        emit closed();
    } else {
        emit failed(result.problem);
    }
}

} // namespace weft::ui
