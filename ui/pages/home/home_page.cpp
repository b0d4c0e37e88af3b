// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/home/home_page.h"

#include "core/data/formats/format_list.h"
#include "ui/actions.h"
#include "ui/bridge/convert.h"
#include "ui/file_dialog.h"
#include "ui/pages/home/demo_card.h"
#include "ui/pages/home/offer_panel.h"
#include "ui/pages/home/preset_row.h"
#include "ui/pages/home/recent_runs.h"
#include "ui/pages/page_list.h"
#include "ui/studio.h"
#include "widgets/controls/card.h"
#include "widgets/controls/flow_layout.h"
#include "widgets/controls/icon_label.h"
#include "widgets/controls/messages.h"
#include "widgets/controls/pill.h"
#include "widgets/controls/shelf.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/icon.h"
#include "widgets/look/style.h"

#include <QHBoxLayout>
#include <QMenu>
#include <QPainter>
#include <QPushButton>
#include <QStackedWidget>
#include <QVBoxLayout>

namespace weft::ui {

namespace {

constexpr int kTwoCardsWidth = 880; // at text size 1
constexpr int kStartPage = 0;

/// Its lines stand in the middle.
class CentredFlow : public widgets::FlowLayout {
public:
    using FlowLayout::FlowLayout;

    void setGeometry(const QRect& rect) override {
        FlowLayout::setGeometry(rect);
        for (int first = 0, next = 0; first < count(); first = next) {
            QRect line;
            const int top = itemAt(first)->geometry().top();
            for (; next < count() && itemAt(next)->geometry().top() == top; ++next) {
                line |= itemAt(next)->geometry();
            }
            const int aside = rect.center().x() - line.center().x();
            for (int i = first; i < next; ++i) {
                itemAt(i)->setGeometry(itemAt(i)->geometry().translated(aside, 0));
            }
        }
    }
};

} // namespace

using widgets::Role;
using widgets::TextStyle;

HomePage::HomePage(Studio& studio, Actions& actions)
    : studio_(studio), try_(actions.get(action::kTry)) {
    askForPath = [this](const QString& title, bool folder) {
        const FileQuestion question{title, FileUse::Data};
        return folder ? askForFolder(this, question) : askForFile(this, question);
    };
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->setSpacing(0);
    recovery_ = new widgets::Banner(widgets::MessageKind::Warning);
    recovery_->setObjectName("recoveryBanner");
    recovery_->hide();

    auto* content = new QWidget;
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(24, 16, 24, 24);
    column->setSpacing(widgets::space::kSection);

    top_ = new QBoxLayout(QBoxLayout::LeftToRight);
    top_->setSpacing(widgets::space::kMargin);
    demo_ = new DemoCard(studio_);
    top_->addWidget(demo_, 12);
    top_->addWidget(createDropZone(), 7);
    column->addLayout(top_);
    presets_ = new PresetRow(studio_);
    column->addWidget(presets_);
    recent_ = new RecentRuns(studio_, actions);
    column->addWidget(recent_);
    column->addStretch(1);
    stack_ = new QStackedWidget;
    stack_->addWidget(widgets::verticalScroll(content));
    auto* shelf = new widgets::Shelf(stack_, widgets::Shelf::Edge::Top);
    shelf->add(recovery_);
    outer->addWidget(shelf, 1);
    createOfferPanel();

    connect(demo_, &DemoCard::failed, this, &HomePage::report);
    connect(demo_, &DemoCard::exported, this, &HomePage::showWritten);
    connect(demo_, &DemoCard::tryRequested, this, &HomePage::tryRun);
    connect(&studio_.run(), &RunModel::reset, this, [this] {
        if (!studio_.run().isEmpty() && studio_.run().folder() == std::exchange(to_try_, {})) {
            try_->trigger();
        }
    });
    connect(presets_, &PresetRow::presetChosen, this, &HomePage::openPath);
    connect(presets_, &PresetRow::failed, this, &HomePage::report);
    connect(recent_, &RecentRuns::openRequested, this, &HomePage::openPath);
    connect(recent_, &RecentRuns::checkpointsRequested, this, [this](const QString& folder) {
        openPath(folder);
        emit pageRequested("checkpoints");
    });
    connect(recent_, &RecentRuns::runsRequested, this, [this] { emit pageRequested("runs"); });
    connect(recent_, &RecentRuns::locateRequested, this, &HomePage::locate);
    connect(recent_, &RecentRuns::closed, this, [this](const QString& text) {
        emit toastRequested(static_cast<int>(widgets::MessageKind::Info), text);
    });
    connect(recent_, &RecentRuns::resumeRequested, this, [this](const QString& folder) {
        report(studio_.control().resumeRun(toPath(folder)).problem);
    });
    connect(&studio_.index(), &RunIndex::runsChanged, this, &HomePage::updateRecovery);
    connect(&studio_, &Studio::trainingChanged, this, &HomePage::updateRecovery);
    connect(&studio_.draft(), &Draft::changed, this, &HomePage::leadChanged);
    connect(&studio_.opener(), &PathOpener::dataOffered, this, &HomePage::lookAt);
}

// With a draft the toolbar's Start is what comes next, and else the demo.
bool HomePage::leads() const {
    return stack_->currentWidget() == offer_ || studio_.draft().isEmpty();
}

void HomePage::createOfferPanel() {
    offer_ = new OfferPanel(studio_);
    stack_->addWidget(offer_);
    connect(stack_, &QStackedWidget::currentChanged, this, &HomePage::leadChanged);
    const auto leave = [this] {
        stack_->setCurrentIndex(kStartPage);
        offer_->offer().forget();
    };
    connect(offer_, &OfferPanel::closed, this, leave);
    connect(offer_, &OfferPanel::failed, this, &HomePage::report);
    connect(offer_, &OfferPanel::dataWanted, this, [this](bool folder) {
        const QString chosen = askForPath(tr("Data to fine-tune on"), folder);
        if (!chosen.isEmpty()) {
            offer_->look(toPath(chosen));
        }
    });
    connect(offer_, &OfferPanel::editing, this, [this, leave] {
        leave();
        emit pageRequested("data");
    });
}

void HomePage::showOffer() {
    emit pageRequested("home");
    stack_->setCurrentWidget(offer_);
    offer_->setFocus(); // Escape leads back before any control is chosen
}

void HomePage::lookAt(const std::filesystem::path& path) {
    showOffer();
    offer_->look(path);
}

void HomePage::tune(const std::filesystem::path& weights) {
    showOffer();
    offer_->tune(weights);
}

QWidget* HomePage::createDropZone() {
    auto* zone = new widgets::DropZone;
    zone_ = zone;
    zone->setObjectName("dropZone");
    zone->setMinimumWidth(300);
    auto* column = new QVBoxLayout(zone);
    column->setContentsMargins(24, 20, 24, 20);
    column->setSpacing(widgets::space::kControl);
    column->addWidget(new widgets::TextLabel(tr("Train on my data…"), TextStyle::Heading));
    auto* text = new widgets::TextLabel(
        tr("Drop a file or a folder. Weft says what it found before anything starts."),
        TextStyle::Body, Role::Muted);
    text->setWordWrap(true);
    column->addWidget(text);
    column->addStretch(1);
    column->addWidget(new widgets::IconLabel("drop", Role::Accent, 36), 0, Qt::AlignHCenter);
    auto* here = new widgets::TextLabel(tr("Drop here"), TextStyle::Strong);
    here->setAlignment(Qt::AlignCenter);
    column->addWidget(here);
    auto* tags = new QWidget;
    auto* flow = new CentredFlow(tags);
    flow->setContentsMargins(0, 0, 0, 0);
    flow->setSpacing(6);
    for (const data::FormatDef* format : data::kFormats) {
        if (format == &data::kSyntheticFormat) {
            continue; // made, not brought
        }
        auto* tag = new widgets::Badge(toQString(format->name));
        tag->setTag(true);
        tag->setToolTip(toQString(format->help));
        flow->addWidget(tag);
    }
    column->addWidget(tags);
    column->addStretch(1);
    auto* foot = new widgets::FlowLayout; // the way goes below the button where it has no room
    foot->setSpacing(widgets::space::kGroup);
    foot->addWidget(createChooseButton());
    foot->addWidget(createTuneButton());
    foot->addWidget(new widgets::TextLabel(tr("found → predicted → model → Start"),
                                           TextStyle::Caption, Role::Muted));
    column->addLayout(foot);
    connect(zone, &widgets::DropZone::pathsDropped, &studio_.opener(), &PathOpener::openDropped);
    return zone;
}

QWidget* HomePage::createChooseButton() {
    auto* choose = new QPushButton(widgets::icon("folder"), tr("Choose…"));
    choose->setObjectName("chooseData");
    auto* menu = new QMenu(choose);
    const auto add = [this, menu](const QString& text, const char* icon, bool folder) {
        QAction* action = menu->addAction(widgets::icon(icon), text);
        action->setObjectName(folder ? "chooseFolder" : "chooseFile");
        connect(action, &QAction::triggered, this, [this, folder] {
            const QString chosen = askForPath(tr("Train on my data"), folder);
            if (!chosen.isEmpty()) {
                openPath(chosen);
            }
        });
    };
    add(tr("A file…"), "file", false);
    add(tr("A folder…"), "folder", true);
    choose->setMenu(menu);
    return choose;
}

// Weights first, then the data that they are to learn.
QWidget* HomePage::createTuneButton() {
    auto* tune = new QPushButton(widgets::icon("checkpoints"), tr("Fine-tune…"));
    tune->setObjectName("fineTune");
    tune->setToolTip(
        tr("Goes on from weights: of a run, of a model of Hugging Face's, or of an ONNX file"));
    auto* menu = new QMenu(tune);
    const auto add = [this, menu](const QString& text, const char* icon, bool folder) {
        QAction* action = menu->addAction(widgets::icon(icon), text);
        action->setObjectName(folder ? "tuneFromFolder" : "tuneFromFile");
        connect(action, &QAction::triggered, this, [this, folder] {
            const QString chosen = askForPath(tr("Weights to go on from"), folder);
            if (!chosen.isEmpty()) {
                this->tune(toPath(chosen));
            }
        });
    };
    add(tr("A run or a model's folder…"), "folder", true);
    add(tr("A file of weights…"), "file", false);
    tune->setMenu(menu);
    return tune;
}

// In a narrow window, or with large text, the cards stand below each other.
void HomePage::arrange() {
    const bool wide = width() >= kTwoCardsWidth * widgets::Theme::current().fontScale();
    top_->setDirection(wide ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
    const double most = DemoCard::kMostHeight * widgets::Theme::current().fontScale();
    demo_->setMaximumHeight(static_cast<int>(most));
    zone_->setMaximumHeight(static_cast<int>(most));
}

void HomePage::resizeEvent(QResizeEvent* event) {
    Page::resizeEvent(event);
    arrange();
}

void HomePage::changeEvent(QEvent* event) {
    Page::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        arrange();
    }
}

void HomePage::activated() {
    studio_.index().refresh();
    presets_->load();
}

// A run that ended without saying so was cut off: say where, and what a resume would repeat.
void HomePage::updateRecovery() {
    recovery_->hide();
    if (studio_.isTraining()) {
        return;
    }
    for (const train::RunSummary& run : studio_.index().runs()) {
        if (run.state != "interrupted") {
            continue;
        }
        const QString name = runTitle(run.folder);
        const QString folder = pathText(run.folder);
        recovery_->clearButtons();
        if (run.last_checkpoint_step >= 0) {
            const std::int64_t lost = run.step - run.last_checkpoint_step;
            recovery_->setText(tr("%1 was interrupted at step %2").arg(name, formatCount(run.step)),
                               lost > 0 ? tr("%n step(s) lost; the newest checkpoint is at step %1",
                                             nullptr, static_cast<int>(lost))
                                              .arg(formatCount(run.last_checkpoint_step))
                                        : tr("nothing is lost"));
            QPushButton* resume = recovery_->addButton(tr("Resume"));
            resume->setObjectName("recoveryResume");
            connect(resume, &QPushButton::clicked, this, [this, folder] {
                report(studio_.control().resumeRun(toPath(folder)).problem);
            });
        } else {
            recovery_->setText(tr("%1 was interrupted at step %2").arg(name, formatCount(run.step)),
                               tr("before its first checkpoint; its curves are kept"));
        }
        QPushButton* open = recovery_->addButton(tr("Show"), true);
        connect(open, &QPushButton::clicked, this, [this, folder] { openPath(folder); });
        recovery_->show();
        return;
    }
}

void HomePage::openPath(const QString& path) {
    report(studio_.opener().open(toPath(path)));
}

void HomePage::tryRun(const std::filesystem::path& run_folder) {
    if (studio_.run().folder() == run_folder) {
        try_->trigger();
    } else {
        to_try_ = run_folder;
        openPath(pathText(run_folder));
    }
}

// What is found takes the place of what is gone.
void HomePage::locate(const QString& opened) {
    const std::filesystem::path gone = toPath(opened);
    const QString found = askForPath(tr("Where is %1 now?").arg(pathText(gone.filename())),
                                     gone.extension() != ".safetensors");
    if (found.isEmpty()) {
        return;
    }
    const QString problem = studio_.opener().open(toPath(found));
    if (problem.isEmpty()) {
        studio_.index().closeFolder(gone);
    }
    report(problem);
}

void HomePage::report(const QString& problem) {
    if (!problem.isEmpty()) {
        emit toastRequested(static_cast<int>(widgets::MessageKind::Error), problem);
    }
}

void HomePage::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), widgets::Theme::current().color(Role::Background));
}

const PageRecord kHomePage{
    "home", QT_TRANSLATE_NOOP("Pages", "Home"), "home",
    [](Studio& studio, Actions& actions) -> Page* { return new HomePage(studio, actions); }};

} // namespace weft::ui
