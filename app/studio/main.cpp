// SPDX-License-Identifier: GPL-3.0-or-later
// weft-studio [FILE...]: the desktop program. Reads the environment, wires, starts the event loop.
#include "core/base/build_config.h"
#include "ui/bridge/convert.h"
#include "ui/plurals.h"
#include "ui/shell/main_window.h"

#include <QApplication>
#include <QCommandLineParser>
#include <QDir>
#include <QFileInfo>
#include <QTimer>

namespace {

QString cache_folder() {
    return qEnvironmentVariable("XDG_CACHE_HOME", QDir::homePath() + "/.cache");
}

// Shared with `weft`, whose `weft bench machine` writes it.
QString calibration_file() {
    return cache_folder() + "/weft/calibration.json";
}

// XDG state: layout and history belong there (Qt 6.4 has no StateLocation).
QString state_folder() {
    const QString base = qEnvironmentVariable("XDG_STATE_HOME", QDir::homePath() + "/.local/state");
    return base + "/weft-studio";
}

// Presets lie in share/weft/presets beside the program when installed, and in the source tree when
// run from a build folder.
QString presets_folder() {
    const QStringList candidates = {
        QCoreApplication::applicationDirPath() + "/../share/weft/presets",
        QStringLiteral(WEFT_SOURCE_PRESETS),
    };
    for (const QString& candidate : candidates) {
        if (QFileInfo(candidate).isDir()) {
            return QDir(candidate).canonicalPath();
        }
    }
    return {};
}

} // namespace

int main(int argc, char** argv) {
    QApplication application(argc, argv);
    QApplication::setApplicationName("weft-studio");
    QApplication::setApplicationDisplayName("Weft Studio");
    QApplication::setApplicationVersion(WEFT_VERSION);
    QApplication::setDesktopFileName("io.github.weft_studio.WeftStudio");
    weft::ui::installEnglishPlurals(application);

    QCommandLineParser parser;
    parser.setApplicationDescription(
        QObject::tr("Trains neural networks and shows beforehand what every device will hold."));
    parser.addHelpOption();
    parser.addVersionOption();
    parser.addPositionalArgument(
        "file", QObject::tr("A configuration, a run folder or a checkpoint."), "[FILE...]");
    const QCommandLineOption runs(
        "runs", QObject::tr("Folder of the runs (default $WEFT_RUNS, else ~/WeftRuns)."), "DIR");
    parser.addOption(runs);
    const QCommandLineOption action(
        "action",
        QObject::tr("Triggers an action when the window is up, as its shortcut would: "
                    "file.new, file.open, file.open_folder, page.checkpoints, ..."),
        "ID");
    parser.addOption(action);
    parser.process(application);

    weft::ui::StudioPaths paths;
    paths.runs_root =
        parser.isSet(runs)
            ? weft::ui::toPath(QDir(parser.value(runs)).absolutePath())
            : weft::train::default_runs_root(weft::ui::toPath(qEnvironmentVariable("WEFT_RUNS")),
                                             weft::ui::toPath(QDir::homePath()));
    paths.presets = weft::ui::toPath(presets_folder());
    paths.state = weft::ui::toPath(state_folder());
    paths.cache = weft::ui::toPath(cache_folder() + "/weft-studio");
    paths.calibration = weft::ui::toPath(calibration_file());
    QDir().mkpath(state_folder());

    weft::widgets::ThemeController theme;
    weft::ui::Studio studio(paths);
    weft::ui::MainWindow window(studio, theme);
    window.show();
    for (const QString& file : parser.positionalArguments()) {
        const QString problem =
            studio.openPath(weft::ui::toPath(QFileInfo(file).absoluteFilePath()));
        if (!problem.isEmpty()) {
            qWarning("%s", qPrintable(problem));
        }
    }
    studio.index().refresh();
    if (parser.isSet(action)) {
        QAction* asked = window.actions().find(parser.value(action));
        if (asked == nullptr) {
            qCritical("%s", qPrintable(
                                QObject::tr("There is no action '%1'. There are: %2.")
                                    .arg(parser.value(action), window.actions().ids().join(", "))));
            return 2;
        }
        QTimer::singleShot(0, asked, &QAction::trigger); // a dialog it opens needs the event loop
    }
    return QApplication::exec();
}
