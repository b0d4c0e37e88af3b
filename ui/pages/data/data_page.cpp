// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/data/data_page.h"

#include "core/advise/suggest_run.h"
#include "core/base/error.h"
#include "ui/actions.h"
#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"
#include "ui/file_dialog.h"
#include "ui/forms/field_group.h"
#include "ui/forms/form.h"
#include "ui/pages/data/about_panel.h"
#include "ui/pages/data/built_in.h"
#include "ui/pages/data/editor_panel.h"
#include "ui/pages/data/scan_panel.h"
#include "ui/pages/data/split_panel.h"
#include "ui/pages/draft_header.h"
#include "ui/pages/drawings.h"
#include "ui/pages/loading_panel.h"
#include "ui/pages/page_list.h"
#include "ui/samples/class_panel.h"
#include "ui/samples/data_sample_panel.h"
#include "ui/samples/length_panel.h"
#include "ui/studio.h"
#include "widgets/controls/arranging.h"
#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/messages.h"

#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QShortcut>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace weft::ui {
namespace {

enum DataSheet { DataEmptySheet, DataContentSheet };
constexpr int kDataPageSettingsWidth = 320;
constexpr int kFactsWidth = 288;
constexpr int kFactsLeast = 256; // the samples' buttons need the room in a narrow window

QScrollArea* side(QWidget* content, int width, const char* name) {
    QScrollArea* scroll = widgets::verticalScroll(content);
    scroll->setObjectName(name);
    scroll->setMinimumWidth(width);
    scroll->setFocusPolicy(Qt::NoFocus);
    return scroll;
}

} // namespace

DataPage::DataPage(Studio& studio, Actions&)
    : studio_(studio), form_source_(studio.draft()), preview_(studio.draft()) {
    askForPath = [this](const QString& title, bool folder) {
        const FileQuestion question{title, FileUse::Data};
        return folder ? askForFolder(this, question) : askForFile(this, question);
    };
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(createHeader());
    progress_ = new widgets::ProgressLine;
    progress_->setAccessibleName(tr("Opening the data"));
    column->addWidget(progress_);
    stack_ = new QStackedWidget;
    stack_->addWidget(createEmpty());
    stack_->addWidget(createContent());
    column->addWidget(stack_, 1);
    connect(&preview_, &DataPreview::changed, this, &DataPage::update);
    connect(&studio_.draft(), &Draft::findingsChanged, this, &DataPage::navStateChanged);
    connect(&preview_, &DataPreview::samplesChanged, this, &DataPage::updateProgress);
    connect(&preview_.news(), &OpeningNews::changed, this, &DataPage::updateProgress);
    auto* roll = new QShortcut(QKeySequence(Qt::Key_R), this);
    roll->setContext(Qt::WidgetWithChildrenShortcut);
    connect(roll, &QShortcut::activated, this, [this] {
        if (preview_.isRandom() && preview_.split() == DataSplit::Train) {
            preview_.reroll();
        }
    });
    const auto page = [this](int key, int direction) {
        auto* shortcut = new QShortcut(QKeySequence(key), this);
        shortcut->setContext(Qt::WidgetWithChildrenShortcut);
        connect(shortcut, &QShortcut::activated, this, [this, direction] {
            const std::int64_t to = preview_.first() + direction * preview_.pageSize();
            if (to < preview_.available()) {
                preview_.setFirst(to);
            }
        });
    };
    page(Qt::Key_PageUp, -1);
    page(Qt::Key_PageDown, 1);
    update();
}

QWidget* DataPage::createHeader() {
    auto* header = new widgets::SectionHeader(tr("Data"), widgets::SectionHeader::Level::Page);
    split_ = new widgets::SegmentedControl({tr("Train"), tr("Validation"), tr("Test")});
    split_->setObjectName("dataSplit");
    split_->setAccessibleName(tr("Split of the data"));
    header->addControl(split_);
    exporting_ = createExportButton(*this, [this] { return studio_.draft().name(); });
    exporting_->setObjectName("dataExport");
    header->addControl(exporting_);
    connect(split_, &widgets::SegmentedControl::currentIndexChanged, this,
            [this](int index) { preview_.setSplit(static_cast<DataSplit>(index)); });
    return header;
}

QWidget* DataPage::createEmpty() {
    auto* empty =
        new widgets::EmptyState("data", tr("No data chosen"),
                                tr("Pick a set that is built in, or train on files of your own."));
    empty->setObjectName("dataEmpty");
    bool first = true;
    for (const BuiltIn& set : builtInSets()) {
        QPushButton* button = empty->addButton(set.title, std::exchange(first, false));
        button->setObjectName("builtIn." + set.name);
        connect(button, &QPushButton::clicked, this, [this, set] { take(set); });
    }
    QPushButton* own = empty->addButton(tr("Train on my data…"), false);
    own->setObjectName("ownData");
    connect(own, &QPushButton::clicked, this, [this] { emit pageRequested("home"); });
    return empty;
}

/// A draft with a model keeps it; otherwise the whole run is suggested.
void DataPage::take(const BuiltIn& set) {
    const config::Json& document = studio_.draft().document();
    if (document.is_object() && document.contains("model")) {
        studio_.draft().setField("data.train", set.source);
        return;
    }
    struct Suggested {
        config::Json document;
        QString problem;
    };
    runInBackground(
        this,
        [source = set.source, name = set.name.toStdString()] {
            Suggested out;
            try {
                out.document = advise::suggest_run({{"train", source}}, {}, name).document;
            } catch (const Error& error) {
                out.problem = toQString(error.message());
            }
            return out;
        },
        [this](const Suggested& suggested) {
            if (suggested.problem.isEmpty()) {
                takeSuggested(suggested.document);
            } else {
                emit toastRequested(static_cast<int>(widgets::MessageKind::Error),
                                    suggested.problem);
            }
        });
}

/// What the draft says already stays.
void DataPage::takeSuggested(const config::Json& document) {
    Draft& draft = studio_.draft();
    if (!draft.document().is_object()) {
        draft.setDocument(document, studio_.paths().runs_root);
        return;
    }
    config::Json whole = document;
    whole.update(draft.document(), true);
    whole["data"]["train"] = document.at("data").at("train");
    std::vector<FieldEdit> edits;
    for (const auto& [name, value] : whole.items()) {
        edits.push_back({"/" + name, value});
    }
    draft.edit(edits);
}

QWidget* DataPage::createContent() {
    auto* splitter = new widgets::ThinSplitter(Qt::Horizontal);
    splitter->addWidget(createSettings());
    samples_ = new DataSamplePanel(preview_);
    splitter->addWidget(samples_);
    splitter->addWidget(createFacts());
    splitter->setStretchFactor(0, 0);
    splitter->setStretchFactor(1, 1);
    splitter->setStretchFactor(2, 0);
    splitter->setSizes({kDataPageSettingsWidth, 1440, kFactsWidth});
    connect(samples_->locateButton(), &QPushButton::clicked, this, &DataPage::locate);
    return splitter;
}

QWidget* DataPage::createSettings() {
    auto* panel = new widgets::Surface;
    auto* column = new QVBoxLayout(panel);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    const auto add = [&](const char* pointer, const QString& title) {
        column->addWidget(
            new EditorPanel(form_source_, *form_source_.field(pointer), pointer, title));
    };
    add("/data/train", tr("Source"));
    tokenizer_ = new EditorPanel(form_source_, *form_source_.field("/data/tokenizer"),
                                 "/data/tokenizer", tr("Tokenizer"));
    tokenizer_->setObjectName("dataTokenizer");
    column->addWidget(tokenizer_);
    column->addWidget(new SplitPanel(form_source_, studio_.draft(), preview_));
    add("/data/transforms", tr("Transforms"));
    add("/data/mix", tr("Mixing"));
    add("/data/test", tr("Test"));
    auto* order =
        new FieldGroup(form_source_, {"/data/shuffle", "/data/drop_last", "/data/num_workers",
                                      "/data/prefetch", "/data/cache", "/data/shuffle_window"});
    order->setContentsMargins(12, 8, 12, 12);
    column->addWidget(new widgets::SectionHeader(tr("Loading")));
    column->addWidget(order);
    column->addStretch(1);
    return side(panel, kDataPageSettingsWidth, "dataSettings");
}

QWidget* DataPage::createFacts() {
    auto* panel = new widgets::Surface;
    auto* column = new QVBoxLayout(panel);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(new ClassPanel(preview_));
    column->addWidget(new LengthPanel(preview_));
    auto* scan = new ScanPanel(preview_);
    column->addWidget(scan);
    column->addWidget(new LoadingPanel(studio_.run(), studio_.draft()));
    column->addWidget(new AboutPanel(studio_.draft(), preview_));
    column->addStretch(1);
    connect(scan, &ScanPanel::sampleChosen, this, [this](DataSplit split, std::int64_t index) {
        preview_.setSplit(split);
        preview_.setClass(-1);
        preview_.setFirst(index);
    });
    return side(panel, kFactsLeast, "dataFacts");
}

widgets::NavState DataPage::navState() const {
    const bool wrong = countProblems(studio_.draft(), [](const std::string& pointer) {
                           return pointer.starts_with("/data");
                       }).errors > 0;
    switch (preview_.state()) {
    case DataPreview::State::Empty: return widgets::NavState::Empty;
    case DataPreview::State::Invalid:
    case DataPreview::State::Failed: return widgets::NavState::Error;
    case DataPreview::State::Opening:
    case DataPreview::State::Stopped:
    case DataPreview::State::Ready: break;
    }
    return wrong ? widgets::NavState::Error : widgets::NavState::Valid;
}

bool DataPage::showField(const std::string& pointer) {
    const bool mine = pointer == "/data" || pointer.starts_with("/data/");
    return mine && (preview_.state() == DataPreview::State::Empty || ui::showField(this, pointer));
}

// The keys of the page work before any of its controls is chosen; a control elsewhere keeps the
// focus.
void DataPage::activated() {
    const QWidget* focus = window()->focusWidget();
    if (focus == nullptr || focus->isAncestorOf(this)) {
        setFocus();
    }
}

void DataPage::showEvent(QShowEvent* event) {
    Page::showEvent(event);
    preview_.setActive(true);
}

void DataPage::hideEvent(QHideEvent* event) {
    Page::hideEvent(event);
    preview_.setActive(false);
}

void DataPage::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), widgets::Theme::current().color(widgets::Role::Background));
}

void DataPage::update() {
    const bool empty = preview_.state() == DataPreview::State::Empty;
    stack_->setCurrentIndex(empty ? DataEmptySheet : DataContentSheet);
    updateProgress();
    split_->setVisible(!empty);
    tokenizer_->setVisible(isText());
    exporting_->setEnabled(preview_.state() == DataPreview::State::Ready);
    updateSplits();
    emit navStateChanged();
}

bool DataPage::isText() const {
    static const config::Json::json_pointer kType("/data/train/type");
    const config::Json& document = studio_.draft().document(); // null of an empty draft
    const config::Json type = document.contains(kType) ? document.at(kType) : config::Json();
    return type == "text" || type == "jsonl" || type == "chat" || type == "tokens";
}

void DataPage::updateProgress() {
    const OpeningNews& news = preview_.news();
    progress_->setBusy(preview_.state() == DataPreview::State::Opening && news.share() < 0);
    progress_->setProgress(news.share());
}

void DataPage::updateSplits() {
    const bool ready = preview_.state() == DataPreview::State::Ready;
    const QSignalBlocker blocker(split_);
    split_->setCurrentIndex(static_cast<int>(preview_.split()));
    split_->setSegmentEnabled(static_cast<int>(DataSplit::Validation),
                              ready && preview_.hasSplit(DataSplit::Validation),
                              tr("Validation is switched off"));
    split_->setSegmentEnabled(static_cast<int>(DataSplit::Test),
                              ready && preview_.hasSplit(DataSplit::Test),
                              tr("This data has no test split"));
}

/// Points the fields whose path leads nowhere to where the files are now.
void DataPage::locate() {
    const std::vector<data::NamedFile> missing = preview_.missing();
    const std::filesystem::path& lost = missing.front().path;
    const QString chosen =
        askForPath(tr("Where is %1 now?").arg(pathText(lost.filename())), !lost.has_extension());
    if (chosen.isEmpty()) {
        return;
    }
    std::vector<FieldEdit> edits;
    for (const data::NamedFile& file : missing) {
        if (file.path == lost) {
            edits.push_back({"/data" + file.pointer, config::Json(chosen.toStdString())});
        }
    }
    studio_.draft().edit(edits);
}

const PageRecord kDataPage{
    "data", QT_TRANSLATE_NOOP("Pages", "Data"), "data",
    [](Studio& studio, Actions& actions) -> Page* { return new DataPage(studio, actions); }};

} // namespace weft::ui
