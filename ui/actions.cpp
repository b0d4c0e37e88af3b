// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/actions.h"

#include "core/base/check.h"
#include "ui/bridge/convert.h"
#include "ui/studio.h"
#include "widgets/controls/command_palette.h"
#include "widgets/look/icon.h"
#include "widgets/look/style.h"

#include <QActionGroup>
#include <QPushButton>

namespace weft::ui {
namespace {

// The name, the keys, and why it cannot be used.
void renewToolTip(QAction* target) {
    const QString keys = target->shortcut().toString(QKeySequence::NativeText);
    const QString name = target->iconText(); // the text without marks of mnemonics
    const QString plain = keys.isEmpty() ? name : name + " (" + keys + ")";
    const QString reason = target->property(widgets::kReasonProperty).toString();
    target->setToolTip(target->isEnabled() || reason.isEmpty() ? plain : plain + "\n" + reason);
}

// Enables an action or says in its tooltip why it cannot be used.
void allow(QAction* target, bool enabled, const QString& reason) {
    target->setEnabled(enabled);
    target->setProperty(widgets::kReasonProperty, reason);
    renewToolTip(target);
}

} // namespace

Actions::Actions(Studio& studio, QObject* parent) : QObject(parent), studio_(studio) {
    createFile();
    createEdit();
    createRun();
    createView();
    const auto update = [this] { updateRunActions(); };
    connect(&studio_, &Studio::trainingChanged, this, update);
    connect(&studio_.control(), &RunControl::pendingChanged, this, update);
    connect(&studio_.control(), &RunControl::controlChanged, this, update);
    connect(&studio_.run(), &RunModel::stateChanged, this, update);
    connect(&studio_.run(), &RunModel::reset, this, update);
    connect(&studio_.draft(), &Draft::changed, this, update);
    connect(&studio_.draft(), &Draft::findingsChanged, this, update);
    updateRunActions();
    connect(&studio_.draft(), &Draft::changed, this, &Actions::updateEditActions);
    updateEditActions();
}

QAction* Actions::get(const char* id) const {
    QAction* found = by_id_.value(QString::fromLatin1(id), nullptr);
    WEFT_CHECK(found != nullptr, std::string("unknown action ") + id);
    return found;
}

QStringList Actions::ids() const {
    QStringList ids;
    for (const QAction* entry : order_) {
        ids << entry->objectName();
    }
    return ids;
}

QAction* Actions::add(const QString& id, const QString& text, const QString& icon_name,
                      const QKeySequence& shortcut, const QString& status_tip) {
    auto* created = new QAction(text, this);
    created->setObjectName(id);
    if (!icon_name.isEmpty()) {
        created->setIcon(widgets::icon(icon_name));
    }
    created->setShortcut(shortcut);
    default_keys_.insert(id, shortcut);
    created->setStatusTip(status_tip);
    allow(created, true, {});
    by_id_.insert(id, created);
    order_.append(created);
    return created;
}

void Actions::setUsable(const char* id, bool usable, const QString& reason) {
    allow(get(id), usable, reason);
}

void Actions::setShortcuts(const QMap<QString, QString>& portable_keys_by_id) {
    for (QAction* target : std::as_const(order_)) {
        const auto chosen = portable_keys_by_id.constFind(target->objectName());
        const QKeySequence keys =
            chosen == portable_keys_by_id.constEnd()
                ? defaultKeys(target->objectName())
                : QKeySequence::fromString(*chosen, QKeySequence::PortableText);
        if (target->shortcut() != keys) {
            target->setShortcut(keys);
            renewToolTip(target);
        }
    }
}

void Actions::createFile() {
    add(action::kNewRun, tr("New run…"), "plus", QKeySequence::New,
        tr("Begin with nothing, data of yours, a preset or a configuration"));
    add(action::kOpenFile, tr("Open configuration…"), "file", QKeySequence::Open,
        tr("Open a run configuration as the draft"));
    add(action::kOpenFolder, tr("Open run or checkpoint…"), "folder", QKeySequence("Ctrl+Shift+O"),
        tr("Open a run folder or a checkpoint folder"));
    add(action::kOpenStore, tr("Open from an object store…"), "folder", {},
        tr("Fetch a run by its address, s3:// or gs://, and open it"));
    add(action::kLogRecipe, tr("Log from a loop of your own…"), {}, {},
        tr("Two lines with which PyTorch or JAX logs what the studio shows"));
    QAction* forget = add(action::kClearRecent, tr("Clear recent list"), "trash", {},
                          tr("Forget what was opened; the files stay where they are"));
    connect(forget, &QAction::triggered, &studio_.recent(), &RecentPaths::clear);
    const auto renew = [this, forget] {
        allow(forget, !studio_.recent().entries().empty(), tr("Nothing was opened yet"));
    };
    connect(&studio_.recent(), &RecentPaths::changed, this, renew);
    renew();
    add(action::kSave, tr("Save configuration"), {}, QKeySequence::Save,
        tr("Write the draft to its file"));
    add(action::kSaveAs, tr("Save configuration as…"), {}, QKeySequence("Ctrl+Shift+S"),
        tr("Write the draft to another file"));
    add(action::kKeepConfig, tr("Save as project…"), {}, {},
        tr("Write the configuration of the run on screen to a file of yours, which becomes the "
           "draft"));
    add(action::kEditConfig, tr("Edit configuration…"), "model", QKeySequence("Ctrl+E"),
        tr("The draft as text, with every problem at its field"));
    add(action::kSettings, tr("Settings…"), "settings", QKeySequence("Ctrl+,"),
        tr("Looks, notifications, folders and shortcuts"));
    add(action::kQuit, tr("Quit"), {}, QKeySequence("Ctrl+Q"), tr("Close the studio"));
}

void Actions::createEdit() {
    QAction* undo = add(action::kUndo, tr("Undo"), "undo", QKeySequence("Ctrl+Z"),
                        tr("Take back the last edit of the draft"));
    QAction* redo = add(action::kRedo, tr("Redo"), "redo", QKeySequence("Ctrl+Shift+Z"),
                        tr("Make the edit of the draft again"));
    connect(undo, &QAction::triggered, &studio_.draft(), &Draft::undo);
    connect(redo, &QAction::triggered, &studio_.draft(), &Draft::redo);
}

void Actions::createRun() {
    QAction* start = add(action::kStart, tr("Start"), "play", QKeySequence("F5"),
                         tr("Start the draft as a new run"));
    QAction* pause = add(action::kPause, tr("Pause"), "pause", QKeySequence("F6"),
                         tr("Pause after the current step; again to go on"));
    QAction* step =
        add(action::kStep, tr("Step"), "step", QKeySequence("F7"), tr("Do one step, then pause"));
    QAction* save = add(action::kCheckpoint, tr("Checkpoint"), "checkpoint", QKeySequence("F8"),
                        tr("Write a checkpoint now"));
    QAction* stop = add(action::kStopAndSave, tr("Stop and save"), "stop", QKeySequence("Shift+F5"),
                        tr("Finish the step, write a checkpoint, end; resumable"));
    QAction* stop_now =
        add(action::kStopNow, tr("Stop now"), "stop", {}, tr("End at once without saving"));
    add(action::kExtend, tr("Train longer…"), "plus", {},
        tr("Add steps to the run on screen, while it trains or after its end"));
    add(action::kTry, tr("Try the model"), {}, {},
        tr("Draw, drop or type something and see what the model of the run on screen makes of it"));
    add(action::kLiveSettings, tr("Change while it trains…"), "settings", QKeySequence("Ctrl+L"),
        tr("The learning rate, how often it is evaluated and saved, which layers are frozen"));
    connect(pause, &QAction::triggered, &studio_.control(), &RunControl::pauseOrResume);
    connect(step, &QAction::triggered, &studio_.control(), &RunControl::singleStep);
    connect(save, &QAction::triggered, &studio_.control(), &RunControl::checkpointNow);
    connect(stop, &QAction::triggered, &studio_.control(), &RunControl::stopAndSave);
    connect(stop_now, &QAction::triggered, &studio_.control(), &RunControl::stopNow);
    start->setPriority(QAction::HighPriority);
}

void Actions::createView() {
    add(action::kPalette, tr("Commands…"), "search", QKeySequence("Ctrl+K"),
        tr("Find any action by name"));
    add(action::kBack, tr("Back"), "chevron-left", QKeySequence("Alt+Left"),
        tr("The page that was shown before"));
    add(action::kForward, tr("Forward"), "chevron-right", QKeySequence("Alt+Right"),
        tr("The page from which you went back"));
    add(action::kRail, tr("Fold the page rail"), "chevrons-left", QKeySequence("Ctrl+B"),
        tr("Show the pages as icons only"));
    add(action::kConsole, tr("Console"), "console", QKeySequence("Ctrl+`"),
        tr("Show or hide the console"));
    add(action::kProblems, tr("Problems"), "problems", QKeySequence("Ctrl+Shift+M"),
        tr("Show or hide the list of problems"));
    add(action::kSystem, tr("System"), "cpu", QKeySequence("Ctrl+Shift+Y"),
        tr("Show or hide the GPUs of this machine and what it computes with"));
    add(action::kThemeSystem, tr("Theme: as the system"), {}, {}, tr("Follow the desktop's theme"));
    add(action::kThemeLight, tr("Theme: light"), "sun", {}, tr("Light theme"));
    add(action::kThemeDark, tr("Theme: dark"), "moon", {}, tr("Dark theme"));
    auto* themes = new QActionGroup(this);
    for (const char* id : {action::kThemeSystem, action::kThemeLight, action::kThemeDark}) {
        get(id)->setCheckable(true);
        themes->addAction(get(id));
    }
    add(action::kTextLarger, tr("Larger text"), {}, QKeySequence("Ctrl++"), tr("Larger text"));
    add(action::kTextSmaller, tr("Smaller text"), {}, QKeySequence("Ctrl+-"), tr("Smaller text"));
    add(action::kTextReset, tr("Normal text size"), {}, QKeySequence("Ctrl+0"),
        tr("Text at its designed size"));
    add(action::kResetLayout, tr("Reset layout"), {}, {}, tr("Docks and sizes as at first start"));
    add(action::kMeasure, tr("Measure this machine…"), "cpu", {},
        tr("What predictions of times rest on: when it was measured, and measure it again"));
    add(action::kHelp, tr("Help on this page"), "info", QKeySequence("F1"),
        tr("What the page is for, the field in focus, and the keys that work here"));
    add(action::kShortcuts, tr("Keyboard shortcuts"), {}, QKeySequence("Ctrl+/"),
        tr("Every shortcut in one list"));
    add(action::kAbout, tr("About Weft Studio"), "weft-mono", {}, tr("Version, back ends and licences"));
}

void Actions::updateEditActions() {
    const Draft& draft = studio_.draft();
    const QString nothing = tr("Choose a preset or open a configuration first");
    allow(get(action::kEditConfig), !draft.isEmpty(), nothing);
    allow(get(action::kSave), !draft.isEmpty() && !draft.isSaved(),
          draft.isEmpty() ? nothing : tr("The file says the same"));
    allow(get(action::kSaveAs), !draft.isEmpty(), nothing);
    allow(get(action::kUndo), studio_.draft().canUndo(), tr("The draft has no edit to take back"));
    allow(get(action::kRedo), studio_.draft().canRedo(), tr("No edit was taken back"));
}

void Actions::updateRunActions() {
    const bool training = studio_.isTraining();
    const train::RunState state = studio_.run().state();
    const bool paused = training && state == train::RunState::paused;
    const bool pending = !studio_.control().pendingCommand().isEmpty();
    const bool stopping = training && state == train::RunState::stopping;
    const QString no_run = tr("No run is training");
    const QString wait = tr("Waiting for the run to answer");

    const auto obstacle = studio_.draft().obstacle();
    allow(get(action::kStart), !training && !studio_.draft().isEmpty() && !obstacle,
          training    ? tr("%1 is training").arg(studio_.run().name())
          : !obstacle ? tr("Choose a preset or open a configuration first")
                      : tr("The draft has a problem: %1").arg(toQString(obstacle->message)));
    QAction* pause = get(action::kPause);
    pause->setText(paused ? tr("Resume") : tr("Pause"));
    pause->setIcon(widgets::icon(paused ? "play" : "pause"));
    const QString locked = studio_.control().controlProblem();
    const QString busy = !training ? no_run : !locked.isEmpty() ? locked : wait;
    const bool commanded = training && locked.isEmpty();
    const bool steerable = commanded && !pending && !stopping;
    allow(pause, steerable, busy);
    allow(get(action::kStep), steerable && paused,
          paused || !commanded ? busy : tr("Pause the run first"));
    const bool saving = commanded && studio_.run().isSaving();
    allow(get(action::kCheckpoint), steerable && !saving,
          saving ? tr("A checkpoint is being written") : busy);
    allow(get(action::kLiveSettings), commanded && !stopping, commanded ? tr("Stopping") : busy);
    allow(get(action::kStopAndSave), commanded && !stopping, commanded ? tr("Stopping") : busy);
    allow(get(action::kStopNow), commanded, busy);
    const bool longer =
        training ? steerable
                 : state == train::RunState::finished || state == train::RunState::stopped;
    allow(get(action::kExtend), longer, training ? busy : tr("No run on screen can go on"));
    const RunModel& run = studio_.run();
    const bool ours = !run.isEmpty() && !run.isForeign();
    const QString whose =
        run.isEmpty() ? tr("No run is on screen") : tr("Another program trains this run");
    allow(get(action::kTry), ours, whose);
    allow(get(action::kKeepConfig), ours, whose);
}

QPushButton* actionButton(QAction* action) {
    auto* button = new QPushButton(action->icon(), {});
    button->setAccessibleName(action->text());
    widgets::setButtonKind(button, widgets::ButtonKind::Flat);
    const auto follow = [button, action] {
        button->setEnabled(action->isEnabled());
        button->setToolTip(action->toolTip());
    };
    QObject::connect(action, &QAction::changed, button, follow);
    QObject::connect(button, &QPushButton::clicked, action, &QAction::trigger);
    follow();
    return button;
}

} // namespace weft::ui
