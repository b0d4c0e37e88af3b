// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/page_help.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>
#include <array>
#include <iterator>

namespace weft::ui {
namespace {

constexpr std::size_t kMostKeys = 12;

struct Keys {
    const char* keys; // portable text, parted by spaces; null: no more
    const char* what;
};

struct Help {
    const char* page;
    const char* purpose;
    std::array<Keys, kMostKeys> keys;
};

constexpr Keys kFindField{"Ctrl+F", QT_TRANSLATE_NOOP("PageHelp", "find a field by its name")};

constexpr Help kHelp[] = {
    {"home",
     QT_TRANSLATE_NOOP("PageHelp",
                       "Where work begins: run the demo, train on data of your own, or choose a "
                       "preset as the draft. Runs that stopped can go on from the list. A file or "
                       "folder can be dropped anywhere on the window."),
     {{{"Esc", QT_TRANSLATE_NOOP("PageHelp", "leave what is offered for your data")}}}},
    {"data",
     QT_TRANSLATE_NOOP("PageHelp",
                       "What the draft trains on: where it comes from, samples as the model gets "
                       "them, and what was found in it that may be wrong."),
     {{{"PgUp PgDown", QT_TRANSLATE_NOOP("PageHelp", "samples before and after those shown")},
       {"R", QT_TRANSLATE_NOOP("PageHelp", "other random samples")}}}},
    {"model",
     QT_TRANSLATE_NOOP("PageHelp",
                       "The layers of the draft's model, as a list to edit, a graph and a text, "
                       "with the parameters, shapes and work of each."),
     {{kFindField,
       {"Del", QT_TRANSLATE_NOOP("PageHelp", "remove the chosen layer")},
       {"Ctrl+D", QT_TRANSLATE_NOOP("PageHelp", "the chosen layer once more")},
       {"Alt+Up Alt+Down", QT_TRANSLATE_NOOP("PageHelp", "move the chosen layer")},
       {"Return", QT_TRANSLATE_NOOP("PageHelp", "in the graph: into a block")},
       {"Backspace", QT_TRANSLATE_NOOP("PageHelp", "in the graph: out of a block")}}}},
    {"training",
     QT_TRANSLATE_NOOP("PageHelp",
                       "How the draft trains: batch and length, optimizer and learning rate, "
                       "evaluation and checkpoints, and what that comes to in steps and time."),
     {{kFindField}}},
    {"plan",
     QT_TRANSLATE_NOOP("PageHelp",
                       "What every device will hold and do, before anything runs. Mesh: how "
                       "tensors are split and what travels. Plan: memory and time of a step, and "
                       "how to make it fit. Program: the operations themselves."),
     {{{"Ctrl+F", QT_TRANSLATE_NOOP("PageHelp", "search the operations")},
       {"F3 Shift+F3", QT_TRANSLATE_NOOP("PageHelp", "the next place found, and the one before")},
       {"Shift+Return", QT_TRANSLATE_NOOP("PageHelp", "in the search: the place before")},
       {"Left Right", QT_TRANSLATE_NOOP("PageHelp", "in a drawing: what is beside it")},
       {"PgUp PgDown", QT_TRANSLATE_NOOP("PageHelp", "the step before or after")},
       {"P", QT_TRANSLATE_NOOP("PageHelp", "in the memory of a step: its peak")},
       {"F11 Esc",
        QT_TRANSLATE_NOOP("PageHelp", "the panel below the mesh fills the page, and back")},
       {"Space", QT_TRANSLATE_NOOP("PageHelp", "in the line of time: play or pause")}}}},
    {"train",
     QT_TRANSLATE_NOOP("PageHelp",
                       "The run on screen: its curves, samples and predictions, what each step "
                       "does, and ways to steer it. Other runs can be laid over it."),
     {{{"F11", QT_TRANSLATE_NOOP("PageHelp", "the chart in focus, or the first, fills the screen")},
       {"R", QT_TRANSLATE_NOOP("PageHelp", "in a chart: show all of it")},
       {"L", QT_TRANSLATE_NOOP("PageHelp", "in a chart: logarithmic scale")},
       {"O", QT_TRANSLATE_NOOP("PageHelp", "in a chart: leave out outliers")},
       {"F", QT_TRANSLATE_NOOP("PageHelp", "in a chart: follow new steps")},
       {"S", QT_TRANSLATE_NOOP("PageHelp", "in a chart: set the smoothing")},
       {"E", QT_TRANSLATE_NOOP("PageHelp", "in a chart: export it")},
       {"Left Right", QT_TRANSLATE_NOOP("PageHelp", "in a chart: move the crosshair")},
       {"+ -", QT_TRANSLATE_NOOP("PageHelp", "in a chart: nearer and farther")},
       {"X K", QT_TRANSLATE_NOOP("PageHelp", "in suspects: leave the sample out, or keep it")},
       {"R", QT_TRANSLATE_NOOP("PageHelp", "in suspects: the class that the network says")}}}},
    {"checkpoints",
     QT_TRANSLATE_NOOP("PageHelp",
                       "What runs have saved: look into a checkpoint, resume or fork from it, "
                       "compare two, export its weights, or see how another mesh would hold it."),
     {{{"Return", QT_TRANSLATE_NOOP("PageHelp", "go to Resume")},
       {"Del", QT_TRANSLATE_NOOP("PageHelp", "move the chosen checkpoint to the trash")},
       {"E", QT_TRANSLATE_NOOP("PageHelp", "in the curve: export it")}}}},
    {"runs",
     QT_TRANSLATE_NOOP(
         "PageHelp", "Every run on disk in one table; their curves beside each other on a wall of "
                     "charts, with what mattered of their settings; and reports made of both. "
                     "Choosing a run changes nothing of what Start does."),
     {{{"Ctrl+F", QT_TRANSLATE_NOOP("PageHelp", "filter the table")},
       {"Return Enter", QT_TRANSLATE_NOOP("PageHelp", "show the chosen run's curves")},
       {"Del", QT_TRANSLATE_NOOP("PageHelp", "move the chosen runs to the trash")},
       {"Space", QT_TRANSLATE_NOOP("PageHelp", "hide the chosen runs' curves, or show them")},
       {"E", QT_TRANSLATE_NOOP("PageHelp", "in the curves: export them")}}}},
    {"profiler",
     QT_TRANSLATE_NOOP("PageHelp",
                       "Steps of the run on screen, recorded while it trains: why they are slow "
                       "and what helps, what each device did when, where the time goes, and what "
                       "changed since another recording."),
     {{{"Ctrl+F", QT_TRANSLATE_NOOP("PageHelp", "filter the table")},
       {"W S", QT_TRANSLATE_NOOP("PageHelp", "in the step: stretch the time")},
       {"A D", QT_TRANSLATE_NOOP("PageHelp", "in the step: move it")},
       {"0", QT_TRANSLATE_NOOP("PageHelp", "in the step: all of it again")},
       {"Return", QT_TRANSLATE_NOOP("PageHelp", "in the step: show the call in the table")}}}},
    {"queue",
     QT_TRANSLATE_NOOP("PageHelp",
                       "Runs that wait for their turn and are trained one after another, or as "
                       "devices get free, also while the studio is closed; and sweeps: trials of a "
                       "configuration that differ in some settings, of which the best go on."),
     {{{"Return", QT_TRANSLATE_NOOP("PageHelp", "show the chosen run's curves")},
       {"Del", QT_TRANSLATE_NOOP("PageHelp", "take the chosen entries out of the queue")}}}},
    {"hosts",
     QT_TRANSLATE_NOOP("PageHelp",
                       "Other machines that OpenSSH reaches: what each lacks, and its runs, which "
                       "are begun, followed and told from here, and whose checkpoints are "
                       "fetched."),
     {{{"Return", QT_TRANSLATE_NOOP("PageHelp", "follow the chosen run")}}}},
};

QString translated(const char* text) {
    return QCoreApplication::translate("PageHelp", text);
}

} // namespace

PageHelp pageHelp(const QString& page) {
    const auto* found = std::find_if(std::begin(kHelp), std::end(kHelp), [&](const Help& help) {
        return page == QLatin1String(help.page);
    });
    if (found == std::end(kHelp)) {
        return {};
    }
    PageHelp result{translated(found->purpose), {}};
    for (const Keys& one : found->keys) {
        if (one.keys == nullptr) {
            break;
        }
        PageKeys& added = result.keys.emplace_back(PageKeys{{}, translated(one.what)});
        for (const QString& keys : QString::fromLatin1(one.keys).split(' ')) {
            added.keys.push_back(QKeySequence::fromString(keys, QKeySequence::PortableText));
        }
    }
    return result;
}

} // namespace weft::ui
