// SPDX-License-Identifier: GPL-3.0-or-later
#include "pages.h"

#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/nav_rail.h"
#include "widgets/controls/pill.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/icon.h"
#include "widgets/look/theme_controller.h"

#include <QApplication>
#include <QComboBox>
#include <QCommandLineParser>
#include <QDir>
#include <QHBoxLayout>
#include <QMenuBar>
#include <QStackedWidget>
#include <QStatusBar>
#include <QVBoxLayout>

#include <cstring>
#include <iterator>

namespace weft::gallery {
namespace {

using namespace widgets;

QWidget* makeToolbar() {
    auto* bar = new Surface(Role::Surface);
    bar->setFixedHeight(size::kToolbarHeight - 2);
    auto* layout = new QHBoxLayout(bar);
    layout->setContentsMargins(12, 0, 12, 0);
    layout->setSpacing(12);
    auto* pill = new StatePill;
    pill->setState(RunState::Running);
    layout->addWidget(pill);
    layout->addWidget(new TextLabel(QStringLiteral("fashion-cnn-004"), TextStyle::Strong));
    layout->addSpacing(24);
    auto* start = new QPushButton(QStringLiteral("Start"));
    start->setIcon(icon(QStringLiteral("play")));
    start->setEnabled(false);
    layout->addWidget(start);
    auto* pause = new QPushButton(QStringLiteral("Pause"));
    pause->setIcon(icon(QStringLiteral("pause")));
    layout->addWidget(pause);
    auto* stop = new SplitButton(QStringLiteral("Stop"), QStringLiteral("stop"));
    stop->addAction(QStringLiteral("Stop and save"));
    stop->addAction(QStringLiteral("Stop now"));
    layout->addWidget(stop);
    for (const char* rare : {"step", "checkpoint"}) {
        auto* button = new QPushButton(icon(QString::fromLatin1(rare)), {});
        setButtonKind(button, ButtonKind::Flat);
        layout->addWidget(button);
    }
    auto* device = new QComboBox;
    device->addItem(icon(QStringLiteral("cpu")), QStringLiteral("This CPU · bf16"));
    layout->addWidget(device);
    layout->addStretch(1);
    layout->addWidget(new TextLabel(QStringLiteral("67 %"), TextStyle::Mono, Role::Muted));
    auto* commands = new QPushButton(QStringLiteral("Commands"));
    commands->setIcon(icon(QStringLiteral("search")));
    layout->addWidget(commands);
    return bar;
}

NavRail* makeRail() {
    auto* rail = new NavRail;
    rail->addPage(QStringLiteral("home"), QStringLiteral("Home"));
    rail->addPage(QStringLiteral("train"), QStringLiteral("Train"));
    rail->addPage(QStringLiteral("checkpoints"), QStringLiteral("Checkpoints"));
    rail->addPage(QStringLiteral("training"), QStringLiteral("Controls"));
    rail->addPage(QStringLiteral("console"), QStringLiteral("Messages"));
    rail->addPage(QStringLiteral("mesh"), QStringLiteral("Mesh & Plan"));
    rail->addPage(QStringLiteral("model"), QStringLiteral("Training"));
    rail->setPageState(1, NavState::Running);
    rail->setPageState(2, NavState::Valid);
    rail->setPageState(3, NavState::Warning);
    rail->setPageState(4, NavState::Error);
    return rail;
}

QWidget* makeStatusBar() {
    auto* bar = new Surface(Role::Background);
    bar->setFixedHeight(size::kStatusBarHeight);
    auto* layout = new QHBoxLayout(bar);
    layout->setContentsMargins(12, 0, 12, 0);
    layout->setSpacing(12);
    auto* pill = new StatePill;
    pill->setState(RunState::Running);
    layout->addWidget(pill);
    for (const char* text : {"step 1,412 / 2,110", "epoch 3.35", "loss 0.238 / 0.256",
                             "1,180 samples/s", "1 m 16 s left", "peak 80 MiB"}) {
        layout->addWidget(
            new TextLabel(QString::fromLatin1(text), TextStyle::MonoSmall, Role::Muted));
        auto* line = new Hairline(Qt::Vertical);
        line->setFixedHeight(16);
        layout->addWidget(line);
    }
    layout->addStretch(1);
    return bar;
}

struct Shell {
    QWidget* window = nullptr;
    NavRail* rail = nullptr;
    QStackedWidget* stack = nullptr;
};

Shell makeShell() {
    Shell shell;
    shell.window = new Surface(Role::Background);
    shell.window->setWindowTitle(QStringLiteral("Widget gallery"));
    shell.window->setWindowIcon(applicationIcon());
    auto* column = new QVBoxLayout(shell.window);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* menu = new QMenuBar;
    for (const char* name : {"File", "Edit", "Run", "View", "Tools", "Help"}) {
        menu->addMenu(QString::fromLatin1(name));
    }
    column->addWidget(menu);
    column->addWidget(new Hairline);
    column->addWidget(makeToolbar());
    auto* progress = new ProgressLine;
    progress->setProgress(0.67);
    column->addWidget(progress);
    auto* row = new QHBoxLayout;
    row->setSpacing(0);
    shell.rail = makeRail();
    shell.stack = new QStackedWidget;
    row->addWidget(shell.rail);
    row->addWidget(shell.stack, 1);
    column->addLayout(row, 1);
    column->addWidget(new Hairline);
    column->addWidget(makeStatusBar());
    for (QWidget* page : {makeHomePage(), makeTrainPage(), makeCheckpointsPage(),
                          makeControlsPage(), makeMessagesPage(), makePlanPage(),
                          makeTrainingPage()}) {
        shell.stack->addWidget(page);
    }
    QObject::connect(shell.rail, &NavRail::currentPageChanged, shell.stack,
                     &QStackedWidget::setCurrentIndex);
    return shell;
}

int takeScreenshots(Shell& shell, ThemeController& themes, const QString& folder,
                    const QString& suffix) {
    QDir().mkpath(folder);
    static const char* const kNames[] = {"home",     "train",    "checkpoints", "controls",
                                         "messages", "plan",     "training"};
    for (const bool dark : {false, true}) {
        themes.setMode(dark ? ThemeController::Mode::Dark : ThemeController::Mode::Light);
        for (int page = 0; page < static_cast<int>(std::size(kNames)); ++page) {
            shell.rail->setCurrentPage(page);
            for (int i = 0; i < 20; ++i) {
                QApplication::processEvents(QEventLoop::AllEvents, 20);
            }
            const QString path =
                QStringLiteral("%1/%2-%3%4.png")
                    .arg(folder, QLatin1String(kNames[page]),
                         dark ? QStringLiteral("dark") : QStringLiteral("light"), suffix);
            if (!shell.window->grab().save(path)) {
                return 1;
            }
        }
    }
    return 0;
}

} // namespace
} // namespace weft::gallery

int main(int argc, char** argv) {
    // The scale must be known before the application exists.
    for (int i = 1; i + 1 < argc; ++i) {
        if (std::strcmp(argv[i], "--scale") == 0) {
            qputenv("QT_SCALE_FACTOR", argv[i + 1]);
        }
        if (std::strcmp(argv[i], "--screenshot") == 0) {
            qputenv("QT_QPA_PLATFORM", "offscreen");
            qputenv("QT_FONT_DPI", "96");
        }
    }
    QApplication application(argc, argv);
    QCommandLineParser parser;
    parser.addHelpOption();
    parser.addOption({QStringLiteral("screenshot"), QStringLiteral("Write pictures of every page."),
                      QStringLiteral("folder")});
    parser.addOption({QStringLiteral("scale"), QStringLiteral("Device scale, e.g. 2."),
                      QStringLiteral("factor"), QStringLiteral("1")});
    parser.addOption({QStringLiteral("font-scale"), QStringLiteral("Text size, 0.8 to 1.5."),
                      QStringLiteral("factor"), QStringLiteral("1")});
    parser.addOption({QStringLiteral("size"), QStringLiteral("Window size."),
                      QStringLiteral("WxH"), QStringLiteral("1440x900")});
    parser.process(application);
    weft::widgets::ThemeController themes;
    themes.setFontScale(parser.value(QStringLiteral("font-scale")).toDouble());
    weft::gallery::Shell shell = weft::gallery::makeShell();
    const QStringList wanted = parser.value(QStringLiteral("size")).split(QLatin1Char('x'));
    shell.window->resize(wanted.value(0).toInt(), wanted.value(1).toInt());
    shell.window->show();
    if (parser.isSet(QStringLiteral("screenshot"))) {
        const QString scale = parser.value(QStringLiteral("scale"));
        const QString suffix =
            scale == QStringLiteral("1") ? QString() : QStringLiteral("-%1x").arg(scale);
        const int result = weft::gallery::takeScreenshots(
            shell, themes, parser.value(QStringLiteral("screenshot")), suffix);
        delete shell.window;
        return result;
    }
    const int result = QApplication::exec();
    delete shell.window;
    return result;
}
