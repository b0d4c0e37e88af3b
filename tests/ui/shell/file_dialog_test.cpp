// SPDX-License-Identifier: GPL-3.0-or-later
// Dialogs for files: the folder of each kind is remembered, the side leads to the usual places, and
// a file that is written has the ending of its kind.
#include "tests/support/weft_test.h"
#include "tests/ui/painted_texts.h"
#include "tests/ui/studio_fixture.h"
#include "ui/bridge/convert.h"
#include "ui/file_dialog.h"

#include <QAbstractFileIconProvider>
#include <QApplication>
#include <QDir>
#include <QFileDialog>
#include <QLineEdit>
#include <QListView>
#include <QTemporaryDir>
#include <QTimer>

namespace {

using namespace weft;
using ui::FileUse;

/// Hands the next dialog for files to `answer`, which ends it.
void onDialog(const std::function<void(QFileDialog&)>& answer) {
    auto* poll = new QTimer(qApp);
    QObject::connect(poll, &QTimer::timeout, poll, [poll, answer] {
        if (auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget())) {
            poll->deleteLater();
            poll->stop();
            answer(*dialog);
        }
    });
    poll->start(10);
}

void enter(QFileDialog& dialog, const QString& name) {
    auto* edit = dialog.findChild<QLineEdit*>("fileNameEdit");
    edit->setText(name);
    QTest::keyClick(edit, Qt::Key_Return);
}

class Window : public QWidget {
public:
    Window() {
        for (const char* name : {"runs", "here", "there"}) {
            QDir(dir_.path()).mkpath(name);
        }
        places_ = new ui::FilePlaces(file(), path("runs").toStdString(), this);
        show();
    }

    QString path(const QString& name) const { return dir_.filePath(name); }
    std::filesystem::path file() const { return path("folders.ini").toStdString(); }
    /// As by a restart.
    void reopen() {
        delete places_;
        places_ = new ui::FilePlaces(file(), path("runs").toStdString(), this);
    }

private:
    QTemporaryDir dir_;
    ui::FilePlaces* places_;
};

} // namespace

class FileDialogTest : public QObject {
    Q_OBJECT

private slots:
    void init() { QTest::failOnWarning(QRegularExpression("^(?!This plugin does not support)")); }

    void each_kind_begins_where_its_last_one_was() {
        Window window;
        test::write_file(window.path("here/data.csv").toStdString(), "a\n1\n");
        onDialog([&](QFileDialog& dialog) { enter(dialog, window.path("here/data.csv")); });
        QCOMPARE(ui::askForFile(&window, {"Data", FileUse::Data}), window.path("here/data.csv"));
        window.reopen();
        const auto begins = [&](FileUse use) {
            QString folder;
            onDialog([&](QFileDialog& dialog) {
                folder = dialog.directory().path();
                dialog.reject();
            });
            [&] { QCOMPARE(ui::askForFile(&window, {"Anything", use}), QString()); }();
            return folder;
        };
        QCOMPARE(begins(FileUse::Data), window.path("here"));
        QCOMPARE(begins(FileUse::Run), window.path("runs"));
        QCOMPARE(begins(FileUse::Export), QDir::homePath());
        QDir(window.path("here")).removeRecursively(); // what is gone is no place to begin
        QCOMPARE(begins(FileUse::Data), QDir::homePath());
    }

    void the_side_names_home_the_runs_and_where_something_was_chosen_lately() {
        Window window;
        QDir(window.path("houses")).mkpath("data");
        QDir(window.path("flowers")).mkpath("data");
        for (const char* place : {"here", "houses/data", "flowers/data"}) {
            const QString file = window.path(place) + "/rows.csv";
            test::write_file(file.toStdString(), "a\n1\n");
            onDialog([&](QFileDialog& dialog) { enter(dialog, file); });
            QCOMPARE(ui::askForFile(&window, {"Data", FileUse::Data}), file);
        }
        window.reopen();
        QStringList folders;
        QStringList names;
        onDialog([&](QFileDialog& dialog) {
            for (const QUrl& url : dialog.sidebarUrls()) {
                folders << url.toLocalFile();
            }
            names = test::painted_texts(*dialog.findChild<QListView*>("sidebar"));
            dialog.reject();
        });
        QCOMPARE(ui::askForFolder(&window, {"Runs", FileUse::Run}), QString());
        QCOMPARE(folders,
                 (QStringList{QDir::homePath(), window.path("runs"), window.path("flowers/data"),
                              window.path("houses/data"), window.path("here"), QDir::rootPath()}));
        QCOMPARE(names, (QStringList{"Home", "Runs", "data – flowers", "data – houses", "here",
                                     "File system"}));
    }

    // What the system knows of kinds and looks takes a fifth of a second for a full folder.
    void no_file_is_looked_into_for_its_icon() {
        Window window;
        const QString table = window.path("here/table.csv");
        test::write_file(table.toStdString(), "a\n1\n");
        bool own = false;
        QString kind;
        onDialog([&](QFileDialog& dialog) {
            own = dialog.testOption(QFileDialog::DontUseCustomDirectoryIcons);
            kind = dialog.iconProvider()->type(QFileInfo(table)); // the system's: "CSV document"
            dialog.reject();
        });
        QCOMPARE(ui::askForFile(&window, {"Data", FileUse::Data}), QString());
        QVERIFY(own);
        QCOMPARE(kind, QString("csv"));
    }

    void a_name_without_an_ending_gets_that_of_the_kind() {
        Window window;
        const QString kinds = "Picture (*.png);;Vector drawing (*.svg)";
        const ui::FileQuestion question{"Export", FileUse::Export, kinds, "matrix.png"};
        QString filter;
        onDialog([&](QFileDialog& dialog) { enter(dialog, window.path("here/one")); });
        QCOMPARE(ui::askForPlace(&window, question, &filter), window.path("here/one.png"));
        onDialog([&](QFileDialog& dialog) {
            dialog.selectNameFilter("Vector drawing (*.svg)");
            dialog.filterSelected(dialog.selectedNameFilter()); // as a person's choice does
            enter(dialog, window.path("here/two"));
        });
        QCOMPARE(ui::askForPlace(&window, question, &filter), window.path("here/two.svg"));
        QCOMPARE(filter, QString("Vector drawing (*.svg)"));
    }
};

WEFT_TEST(FileDialogTest)
#include "file_dialog_test.moc"
