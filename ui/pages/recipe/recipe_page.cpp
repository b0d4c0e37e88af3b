// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/recipe/recipe_page.h"

#include "ui/actions.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/draft/command_text.h"
#include "ui/forms/form.h"
#include "ui/forms/record_form.h"
#include "ui/pages/draft_header.h"
#include "ui/pages/drawings.h"
#include "ui/pages/page_list.h"
#include "ui/pages/recipe/batch_panel.h"
#include "ui/pages/recipe/group_table.h"
#include "ui/pages/recipe/loss_panel.h"
#include "ui/pages/recipe/loss_scale_panel.h"
#include "ui/pages/recipe/metric_editor.h"
#include "ui/pages/recipe/retention_panel.h"
#include "ui/pages/recipe/schedule_panel.h"
#include "ui/pages/recipe/stopping_panel.h"
#include "ui/studio.h"
#include "widgets/controls/arranging.h"
#include "widgets/controls/card.h"
#include "widgets/controls/messages.h"
#include "widgets/look/icon.h"
#include "widgets/look/style.h"

#include <QApplication>
#include <QClipboard>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <array>

namespace weft::ui {
namespace {

constexpr int kRecipePageSettingsWidth = 674;
constexpr int kSettingsLeast = 480;
constexpr int kPicturesLeast = 370;
constexpr int kSectionHead = 28;
enum TrainingSheet { TrainingMessageSheet, TrainingEditSheet };

/// What of the configuration this page shows.
constexpr std::array kSections = {"/name",     "/notes",   "/tags",       "/seed",
                                  "/loss",     "/metrics", "/optimizer",  "/lr_schedule",
                                  "/training", "/log",     "/evaluation", "/checkpoint"};

bool isOfTraining(const std::string& pointer) {
    return std::any_of(kSections.begin(), kSections.end(), [&](const std::string& section) {
        return pointer == section || pointer.starts_with(section + "/");
    });
}

/// Keeps an area as wide as its content needs, which grows with the text.
class LeastWidth : public QObject {
public:
    explicit LeastWidth(QScrollArea* area) : QObject(area), area_(area) {
        area->widget()->installEventFilter(this);
        apply();
    }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override {
        if (event->type() == QEvent::LayoutRequest || event->type() == QEvent::Resize) {
            apply();
        }
        return QObject::eventFilter(watched, event);
    }

private:
    void apply() {
        area_->setMinimumWidth(
            std::max(kPicturesLeast, area_->widget()->minimumSizeHint().width() +
                                         area_->verticalScrollBar()->sizeHint().width()));
    }

    QScrollArea* area_;
};

} // namespace

RecipePage::RecipePage(Studio& studio, Actions& actions)
    : studio_(studio), actions_(actions), source_(studio.draft()),
      outlook_(studio.draft(), studio.planner().step), stack_(new QStackedWidget) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    createHeader();
    column->addWidget(header_);
    message_ = new widgets::EmptyState("training");
    message_->setObjectName("trainingMessage");
    go_home_ = addHomeButton(*message_, studio_.draft());
    edit_text_ = message_->addButton(tr("Edit as text"));
    connect(edit_text_, &QPushButton::clicked, actions_.get(action::kEditConfig),
            &QAction::trigger);
    stack_->addWidget(message_);
    auto* splitter = new widgets::ThinSplitter(Qt::Horizontal, "trainingSplitter");
    settings_ = createSettings();
    pictures_ = createPictures();
    splitter->addWidget(settings_);
    splitter->addWidget(pictures_);
    splitter->setStretchFactor(0, 0); // a wider window is for the pictures
    splitter->setStretchFactor(1, 1);
    splitter->setSizes({kRecipePageSettingsWidth, 1440 - kRecipePageSettingsWidth});
    stack_->addWidget(splitter);
    column->addWidget(stack_, 1);
    connect(&source_, &FormSource::changed, this, &RecipePage::update);
    update();
}

void RecipePage::createHeader() {
    header_ = new DraftHeader(tr("Training"), source_, actions_, this);
    connect(header_, &DraftHeader::fieldChosen, this, [this](const std::string& pointer) {
        if (!showField(pointer)) {
            emit fieldRequested(pointer);
        }
    });
    copy_ = new QPushButton(widgets::icon("console"), tr("Copy as command"));
    copy_->setObjectName("copyCommand");
    copy_->setToolTip(tr("Copies the line that trains this draft in a terminal"));
    connect(copy_, &QPushButton::clicked, this, &RecipePage::copyCommand);
    header_->addControl(copy_);
    QPushButton* exporting = createExportButton(*this, [this] { return studio_.draft().name(); });
    exporting->setObjectName("trainingExport");
    header_->addControl(exporting);
}

void RecipePage::addSection(QVBoxLayout* column, const QString& title, const QString& subtitle,
                            std::initializer_list<QWidget*> parts) {
    if (column->count() > 1) {
        column->addWidget(new widgets::Hairline);
    }
    auto* section = new QWidget;
    auto* rows = new QVBoxLayout(section);
    rows->setContentsMargins(widgets::space::kMargin, widgets::space::kControl,
                             widgets::space::kMargin, widgets::space::kMargin);
    rows->setSpacing(widgets::space::kGroup);
    auto* header = new widgets::SectionHeader(title, widgets::SectionHeader::Level::Inline);
    header->setSubtitle(subtitle);
    header->setFixedHeight(kSectionHead);
    rows->addWidget(header);
    for (QWidget* part : parts) {
        rows->addWidget(part);
    }
    column->addWidget(section);
}

QWidget* RecipePage::createSettings() {
    auto* panel = new widgets::Surface;
    auto* column = new QVBoxLayout(panel);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    unfiled_ = new ProblemLines;
    unfiled_->setContentsMargins(widgets::space::kMargin, widgets::space::kControl,
                                 widgets::space::kMargin, 0);
    connect(unfiled_, &ProblemLines::removeRequested, this,
            [this](const QString& pointer) { source_.reset(pointer.toStdString()); });
    column->addWidget(unfiled_);
    const auto group = [this](std::vector<std::string> pointers) {
        return new FieldGroup(source_, pointers, createTrainingEditor);
    };
    addSection(column, tr("Batch"), tr("samples for one update"),
               {new BatchPanel(source_, outlook_)});
    addSection(column, tr("Optimizer"), {},
               {new RecordForm(source_, "/optimizer", {"groups"}, {"/training/max_grad_norm"}),
                new GroupTable(source_, outlook_)});
    addSection(column, tr("Loss and metrics"), {},
               {new LossPanel(source_, studio_.draft()), new Form(source_, "/metrics")});
    addSection(column, tr("Precision and memory"), {},
               {group({"/training/precision", "/training/recompute", "/training/memory_budget",
                       "/training/ema_decay", "/training/deterministic", "/training/on_nonfinite"}),
                new LossScalePanel(source_)});
    addSection(column, tr("Early stopping"), tr("ends a run that no longer improves"),
               {new StoppingPanel(source_)});
    addSection(column, tr("Evaluation"), {},
               {group({"/evaluation/every", "/evaluation/max_batches", "/evaluation/samples",
                       "/evaluation/at_start", "/evaluation/use_ema"})});
    addSection(column, tr("Checkpoints"), {},
               {group({"/checkpoint/every", "/checkpoint/keep_latest", "/checkpoint/keep_best",
                       "/checkpoint/keep_every", "/checkpoint/metric", "/checkpoint/mode",
                       "/checkpoint/on_improvement", "/checkpoint/async", "/checkpoint/mirror"})});
    addSection(column, tr("Run and records"), {},
               {group({"/name", "/tags", "/log/tensorboard", "/log/wandb", "/log/inside_every"}),
                group({"/notes"})});
    column->addStretch(1);
    QScrollArea* scroll = widgets::verticalScroll(panel);
    scroll->setObjectName("trainingSettings");
    scroll->setMinimumWidth(kSettingsLeast);
    return scroll;
}

QWidget* RecipePage::createPictures() {
    auto* splitter = new widgets::ThinSplitter(Qt::Vertical, "trainingSideSplitter");
    const auto panel = [](QWidget* part) {
        auto* out = new widgets::Surface;
        auto* column = new QVBoxLayout(out);
        column->setContentsMargins(0, 0, 0, 0);
        column->addWidget(part);
        return out;
    };
    splitter->addWidget(
        panel(new SchedulePanel(source_, outlook_, studio_.draft(), studio_.run())));
    splitter->addWidget(panel(new RetentionPanel(studio_.draft(), outlook_, studio_.run())));
    splitter->setStretchFactor(0, 3);
    splitter->setStretchFactor(1, 2);
    QScrollArea* scroll = widgets::verticalScroll(splitter); // where both have too little room
    new LeastWidth(scroll);
    return scroll;
}

widgets::NavState RecipePage::navState() const {
    if (studio_.draft().isEmpty() && studio_.draft().diagnostics().empty()) {
        return widgets::NavState::Empty;
    }
    const auto [errors, warnings] = countProblems(studio_.draft(), isOfTraining);
    return errors > 0 || !source_.isEditable() ? widgets::NavState::Error
           : warnings > 0                      ? widgets::NavState::Warning
                                               : widgets::NavState::Valid;
}

void RecipePage::update() {
    const Draft& draft = studio_.draft();
    header_->setProblems(countProblems(draft, isOfTraining));
    const bool empty = draft.isEmpty();
    stack_->setCurrentIndex(source_.isEditable() ? TrainingEditSheet : TrainingMessageSheet);
    copy_->setEnabled(draft.isValid() && !empty);
    go_home_->setVisible(empty);
    edit_text_->setVisible(!empty);
    const bool unreadable = empty && !draft.diagnostics().empty();
    message_->setIconName(empty && !unreadable ? "training" : "problems");
    if (source_.isEditable()) {
        message_->setTitle({});
    } else if (empty && !unreadable) {
        message_->setTitle(tr("No draft to edit"));
        message_->setText(tr("Choose a preset on Home or open a configuration: this page then "
                             "shows how it will be trained."));
    } else {
        const config::Diagnostic& first = draft.diagnostics().front();
        message_->setTitle(tr("The draft cannot be read"));
        message_->setText((toQString(first.message) + "\n" + toQString(first.hint)).trimmed());
    }
    updateUnfiled();
    emit navStateChanged();
}

/// What is wrong in the sections of this page and has no place at a field.
void RecipePage::updateUnfiled() {
    std::vector<ProblemLine> lines;
    for (const config::Diagnostic& one : studio_.draft().diagnostics()) {
        if (isOfTraining(one.pointer) && source_.field(one.pointer) == nullptr &&
            !one.pointer.ends_with("/type")) {
            ProblemLine line = problemLine(one);
            line.pointer = toQString(one.pointer);
            lines.push_back(line);
        }
    }
    unfiled_->setLines(lines);
}

bool RecipePage::showField(const std::string& pointer) {
    return isOfTraining(pointer) && source_.isEditable() &&
           (ui::showField(settings_, pointer) || ui::showField(pictures_, pointer));
}

void RecipePage::showEvent(QShowEvent* event) {
    Page::showEvent(event);
    outlook_.setActive(true);
}

void RecipePage::hideEvent(QHideEvent* event) {
    Page::hideEvent(event);
    outlook_.setActive(false);
}

void RecipePage::copyCommand() {
    const Draft& draft = studio_.draft();
    if (draft.path().empty()) {
        emit toastRequested(static_cast<int>(widgets::MessageKind::Info),
                            tr("The draft has no file yet: save it, then copy the command."),
                            actions_.get(action::kSave));
        return;
    }
    QApplication::clipboard()->setText(trainCommand(draft));
    emit toastRequested(static_cast<int>(widgets::MessageKind::Success),
                        tr("The command is on the clipboard."));
}

const PageRecord kRecipePage{
    "training", QT_TRANSLATE_NOOP("Pages", "Training"), "training",
    [](Studio& studio, Actions& actions) -> Page* { return new RecipePage(studio, actions); }};

} // namespace weft::ui
