// SPDX-License-Identifier: GPL-3.0-or-later
// How the window is left, and how it comes back.
#include "ui/bridge/convert.h"
#include "ui/shell/kept_views.h"
#include "ui/shell/main_window.h"
#include "ui/shell/message_box.h"
#include "ui/shell/run_banner.h"
#include "widgets/look/style.h"

#include <QCloseEvent>
#include <QMessageBox>
#include <QPushButton>
#include <QScreen>
#include <QSettings>

namespace weft::ui {
namespace {

constexpr int kLayoutVersion = 2;
constexpr QSize kMainWindowFrame{16, 48}; // about what a window manager adds around a window
constexpr QSize kDesignedSize{1440, 900};

QSettings layoutSettings(const StudioPaths& paths) {
    return QSettings(pathText(paths.state / "layout.ini"), QSettings::IniFormat);
}

} // namespace

void MainWindow::takeDesignedSize() {
    resize(kDesignedSize.boundedTo(screen()->availableSize() - kMainWindowFrame));
}

void MainWindow::restoreLayout() {
    takeDesignedSize();
    QSettings settings = layoutSettings(studio_.paths());
    restoreGeometry(settings.value("geometry").toByteArray());
    // Another screen may be smaller than the one at which the window was left.
    resize(size().boundedTo(screen()->availableSize() - kMainWindowFrame));
    docks_->restoreState(settings.value("docks").toByteArray(), kLayoutVersion);
    restoreViews(*this, settings);
    const QString page = settings.value("page").toString();
    if (studio_.settings().values().open_last_page && page_index_.contains(page)) {
        studio_.showRunAgain(toPath(settings.value("run").toString()));
        trail_ = {};
        showPage(page);
    }
    kept_layout_ = keptLayout();
    for (const QString& key : settings.allKeys()) {
        kept_layout_.insert(key, settings.value(key));
    }
}

QVariantMap MainWindow::keptLayout() const {
    QVariantMap layout = viewsOf(*this);
    layout.insert("geometry", saveGeometry());
    layout.insert("docks", docks_->saveState(kLayoutVersion));
    layout.insert("page", currentPage());
    layout.insert("run", pathText(studio_.run().folder()));
    return layout;
}

void MainWindow::saveLayout() {
    QSettings settings = layoutSettings(studio_.paths());
    const QVariantMap now = keptLayout();
    keepChanges(settings, kept_layout_, now);
    kept_layout_ = now;
}

void MainWindow::closeEvent(QCloseEvent* event) {
    // Closing leaves alone what another studio controls.
    if (!studio_.isTraining() || closing_ || !studio_.control().controlProblem().isEmpty()) {
        saveLayout();
        event->accept();
        return;
    }
    event->ignore();
    switch (askBeforeClose()) {
    case CloseChoice::KeepTraining:
        saveLayout();
        event->accept();
        break;
    case CloseChoice::StopAndSave:
        if (!studio_.isTraining()) { // it ended while it was asked about
            closeAfterRun();
            break;
        }
        closeWhenEnded();
        studio_.control().stopAndSave();
        break;
    case CloseChoice::Cancel: break;
    }
}

// Waits for this run and this request alone: when either comes to nothing, the window stays.
void MainWindow::closeWhenEnded() {
    banner_->setStopping(true);
    auto* waiting = new QObject(this);
    const auto stay = [this, waiting] {
        waiting->deleteLater();
        waiting->disconnect();
        banner_->setStopping(false);
    };
    connect(&studio_.link(), &RunLink::ended, waiting, [this, stay] {
        stay();
        closeAfterRun();
    });
    connect(&studio_.control(), &RunControl::commandRefused, waiting,
            [stay](const QString& command) {
                if (command == toQString(train::command_name(train::CommandKind::stop))) {
                    stay();
                }
            });
    connect(&studio_.control(), &RunControl::controlChanged, waiting, [this, stay] {
        if (const QString why = studio_.control().controlProblem(); !why.isEmpty()) {
            stay();
            complain(tr("The window stays open: %1 is %2.").arg(studio_.run().name(), why));
        }
    });
    connect(&studio_, &Studio::runShown, waiting, stay); // the user looks at another one
}

void MainWindow::closeAfterRun() {
    if (studio_.run().state() == train::RunState::failed) {
        showPage("train"); // its checkpoint may not have been saved: that is to be seen
        return;
    }
    closing_ = true;
    QMetaObject::invokeMethod(this, &QWidget::close, Qt::QueuedConnection);
}

MainWindow::CloseChoice MainWindow::closeDialog() {
    QMessageBox box(this);
    box.setObjectName("closeDialog");
    box.setIcon(QMessageBox::NoIcon);
    box.setWindowTitle(tr("A run is training"));
    box.setText(
        tr("%1 is at step %2.").arg(studio_.run().name(), formatCount(studio_.run().step())));
    box.setInformativeText(tr("In the background it trains on in its own process, and the studio "
                              "shows it again at the next start. Stop and save writes a "
                              "checkpoint; Home then offers to resume exactly there."));
    QPushButton* keep = box.addButton(tr("Keep training in background"), QMessageBox::AcceptRole);
    QPushButton* save = box.addButton(tr("Stop and save"), QMessageBox::AcceptRole);
    QPushButton* cancel = box.addButton(tr("Cancel"), QMessageBox::RejectRole);
    keep->setObjectName("keepTraining");
    save->setObjectName("stopAndSave");
    cancel->setObjectName("keepOpen");
    widgets::setButtonKind(keep, widgets::ButtonKind::Primary);
    box.setDefaultButton(keep);
    box.setEscapeButton(cancel);
    alignText(box);
    box.exec();
    return box.clickedButton() == keep   ? CloseChoice::KeepTraining
           : box.clickedButton() == save ? CloseChoice::StopAndSave
                                         : CloseChoice::Cancel;
}

} // namespace weft::ui
