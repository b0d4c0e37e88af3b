// SPDX-License-Identifier: GPL-3.0-or-later
// weft-studio [FILE...]: the desktop program. Reads the environment, wires, starts the event loop.
#include "core/base/allocator.h"
#include "core/base/build_config.h"
#include "core/base/file.h"
#include "core/base/team_wait.h"
#include "core/train/control/control_socket.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/run/run_fetch.h"
#include "ui/guarded_application.h"
#include "ui/language.h"
#include "ui/plurals.h"
#include "ui/shell/desktop_link.h"
#include "ui/shell/launch_queue.h"
#include "ui/shell/main_window.h"
#include "ui/shell/single_instance.h"

#include <QCommandLineParser>
#include <QCryptographicHash>
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

// What the user prefers, where users look for it and back it up.
QString settings_file() {
    return qEnvironmentVariable("XDG_CONFIG_HOME", QDir::homePath() + "/.config") +
           "/weft-studio/settings.ini";
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

// Beside the presets when installed, and in the build folder before.
QStringList translation_folders() {
    return {QCoreApplication::applicationDirPath() + "/../share/weft/translations",
            QStringLiteral(WEFT_BUILT_TRANSLATIONS)};
}

// The headless program: beside this one when installed, in the next folder of a build tree.
QString worker_program() {
    const QDir here(QCoreApplication::applicationDirPath());
    const QString in_build_tree = here.filePath("../cli/weft");
    return QFileInfo(in_build_tree).isExecutable() ? QDir::cleanPath(in_build_tree)
                                                   : here.filePath("weft");
}

// Private to the user; empty where there can be none.
std::filesystem::path sockets_folder() {
    try {
        return weft::train::control_folder(
            weft::ui::toPath(qEnvironmentVariable("XDG_RUNTIME_DIR")),
            weft::ui::toPath(QDir::tempPath()));
    } catch (const weft::Error& fault) {
        qWarning("%s", fault.what());
        return {};
    }
}

// One for each user, screen and folder of runs: another screen needs a window of its own, and other
// runs another studio.
QString instance_socket(const std::filesystem::path& runs_root,
                        const std::filesystem::path& sockets) {
    const QByteArray place = qgetenv("WAYLAND_DISPLAY") + '\n' + qgetenv("DISPLAY") + '\n' +
                             QByteArray::fromStdString(runs_root.string());
    const QString name =
        "studio-" + QCryptographicHash::hash(place, QCryptographicHash::Sha256).toHex().left(16);
    return sockets.empty() ? QDir::tempPath() + "/weft-" + name
                           : weft::ui::pathText(sockets) + "/" + name;
}

} // namespace

int main(int argc, char** argv) {
    weft::shorten_team_wait(argv);
    weft::open_standard_descriptors();
    weft::keep_freed_memory();
    weft::ui::GuardedApplication application(argc, argv);
    QApplication::setApplicationName("weft-studio");
    QApplication::setApplicationDisplayName("Weft Studio");
    QApplication::setApplicationVersion(WEFT_VERSION);
    QApplication::setDesktopFileName("io.github.weft_studio.WeftStudio");
    weft::ui::installEnglishPlurals(application);
    weft::ui::installLanguage(application, QLocale::system(), translation_folders());

    QCommandLineParser parser;
    parser.setApplicationDescription(
        QObject::tr("Trains neural networks and shows beforehand what every device will hold."));
    parser.addHelpOption();
    parser.addVersionOption();
    parser.addPositionalArgument(
        "file",
        QObject::tr("A configuration, a run folder, a checkpoint, a model or data; the address of "
                    "a run in an object store."),
        "[FILE...]");
    const QCommandLineOption runs(
        "runs", QObject::tr("Folder of the runs (default $WEFT_RUNS, else ~/WeftRuns)."), "DIR");
    parser.addOption(runs);
    const QCommandLineOption action(
        "action",
        QObject::tr("Triggers an action when the window is up, as its shortcut would: "
                    "file.new, file.open, file.open_folder, page.checkpoints, ..."),
        "ID");
    parser.addOption(action);
    const QCommandLineOption new_window(
        "new-window", QObject::tr("Opens a studio of its own although one is open."));
    parser.addOption(new_window);
    parser.process(application);

    weft::ui::StudioPaths paths;
    paths.settings = weft::ui::toPath(settings_file());
    const QString chosen = weft::ui::Settings(paths.settings).values().runs_folder;
    const QString wanted = qEnvironmentVariable("WEFT_RUNS", chosen);
    paths.runs_root =
        parser.isSet(runs)
            ? weft::ui::toPath(QDir(parser.value(runs)).absolutePath())
            : weft::train::default_runs_root(weft::ui::toPath(wanted),
                                             weft::ui::toPath(QDir::homePath()));
    paths.presets = weft::ui::toPath(presets_folder());
    paths.state = weft::ui::toPath(state_folder());
    paths.cache = weft::ui::toPath(cache_folder() + "/weft-studio");
    paths.calibration = weft::ui::toPath(calibration_file());
    paths.worker = weft::ui::toPath(worker_program());
    paths.sockets = sockets_folder();
    QDir().mkpath(state_folder());

    weft::ui::LaunchRequest request;
    for (const QString& file : parser.positionalArguments()) {
        request.files << (weft::ui::RunFetch::isAddress(file) ? file
                                                              : QFileInfo(file).absoluteFilePath());
    }
    request.action = parser.value(action);
    request.token = qgetenv("XDG_ACTIVATION_TOKEN");
    weft::ui::SingleInstance instance(instance_socket(paths.runs_root, paths.sockets));
    if (!parser.isSet(new_window)) {
        using Role = weft::ui::SingleInstance::Role;
        const Role role = instance.claim(request);
        if (role == Role::Forwarded) {
            return 0;
        }
        if (role == Role::Alone) {
            qWarning("%s", qPrintable(instance.problem()));
        }
    }

    weft::widgets::ThemeController theme;
    weft::ui::Studio studio(paths);
    weft::ui::MainWindow window(studio, theme);
    window.show();
    studio.bringBackDraft();
    weft::ui::Desktop desktop(QDBusConnection::sessionBus(), QDBusConnection::systemBus());
    const weft::ui::DesktopLink desktop_link(studio, desktop);
    for (const QString& file : request.files) {
        window.open(file);
    }
    studio.reattach();
    studio.index().refresh();
    studio.machine().look();
    if (!request.action.isEmpty()) {
        if (window.actions().find(request.action) == nullptr) {
            qCritical("%s",
                      qPrintable(QObject::tr("There is no action '%1'. There are: %2.")
                                     .arg(request.action, window.actions().ids().join(", "))));
            return 2;
        }
    }
    weft::ui::LaunchQueue launches(window, studio.draft());
    QTimer::singleShot(0, &launches, [&] { // a dialog that it opens needs the event loop
        launches.add({{}, request.action, {}});
    });
    QObject::connect(&instance, &weft::ui::SingleInstance::requested, &launches,
                     &weft::ui::LaunchQueue::add);
    application.setFaultListener(
        [&window](const std::exception* fault) { window.sayFault(fault); });
    const int code = QApplication::exec();
    application.setFaultListener({}); // the window goes first
    return code;
}
