// SPDX-License-Identifier: Apache-2.0
// The files by which a desktop finds the studio agree with each other and with the program.
#include "tests/support/weft_test.h"

#include <QProcess>
#include <QStandardPaths>

namespace {

const QString kId = QStringLiteral("io.github.weft_studio.WeftStudio");

QString source(const QString& path) {
    return QStringLiteral(WEFT_SOURCE_DIR) + "/" + path;
}

QString desktop_file(const QString& suffix) {
    return source("packaging/desktop/" + kId + suffix);
}

QString content(const QString& path) {
    QFile file(path);
    return file.open(QFile::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

} // namespace

class DesktopTest : public QObject {
    Q_OBJECT

    static void run_validator(const QString& program, const QStringList& arguments) {
        if (QStandardPaths::findExecutable(program).isEmpty()) {
            QSKIP(qPrintable(program + " is not installed"));
        }
        QProcess process;
        process.setProcessChannelMode(QProcess::MergedChannels);
        process.start(program, arguments);
        QVERIFY(process.waitForFinished());
        QVERIFY2(process.exitCode() == 0, process.readAll().constData());
    }

private slots:
    void the_desktop_entry_is_valid() {
        run_validator("desktop-file-validate", {desktop_file(".desktop")});
    }

    void the_metainfo_is_valid() {
        run_validator("appstreamcli", {"validate", "--no-net", desktop_file(".metainfo.xml")});
    }

    void the_mime_package_is_well_formed_and_names_both_types() {
        QXmlStreamReader xml(content(desktop_file(".mime.xml")));
        QStringList types;
        QStringList globs;
        while (!xml.atEnd()) {
            if (xml.readNext() == QXmlStreamReader::StartElement) {
                if (xml.name() == QLatin1String("mime-type")) {
                    types << xml.attributes().value("type").toString();
                } else if (xml.name() == QLatin1String("glob")) {
                    globs << xml.attributes().value("pattern").toString();
                }
            }
        }
        QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
        QCOMPARE(types,
                 QStringList({"application/vnd.weft.run+json", "application/vnd.weft.checkpoint"}));
        QCOMPARE(globs, QStringList({"*.weftrun", "*.weftckpt"}));
    }

    // A launchable or window id that differs from the file's name breaks icons and double-click.
    void every_file_uses_the_same_id() {
        QVERIFY(content(desktop_file(".metainfo.xml")).contains("<id>" + kId + "</id>"));
        QVERIFY(content(desktop_file(".metainfo.xml"))
                    .contains("<launchable type=\"desktop-id\">" + kId + ".desktop</launchable>"));
        QVERIFY(content(desktop_file(".desktop")).contains("Icon=" + kId + "\n"));
        QVERIFY(content(source("app/studio/main.cpp")).contains("\"" + kId + "\""));
    }

    void the_desktop_entry_takes_files_of_our_types() {
        const QString entry = content(desktop_file(".desktop"));
        QVERIFY(entry.contains("Exec=weft-studio %F\n"));
        QVERIFY(entry.contains(
            "MimeType=application/vnd.weft.run+json;application/vnd.weft.checkpoint;\n"));
    }

    void the_manual_page_has_every_option_of_the_studio() {
        const QString page = content(source("packaging/man/weft-studio.1"));
        static const QRegularExpression option("QCommandLineOption \\w+\\(\\s*\"([a-z-]+)\"");
        auto found = option.globalMatch(content(source("app/studio/main.cpp")));
        QVERIFY(found.hasNext());
        while (found.hasNext()) {
            const QString name = "--" + found.next().captured(1);
            QVERIFY2(page.contains("\\fB" + QString(name).replace("-", "\\-") + "\\fR"),
                     qPrintable(name));
        }
    }

    void the_desktop_entry_offers_a_new_run_and_to_open_one() {
        const QString entry = content(desktop_file(".desktop"));
        QVERIFY(entry.contains("Actions=new-run;open-run;\n"));
        const QString actions = content(source("ui/actions.h"));
        for (const char* id : {"file.new", "file.open_folder"}) {
            QVERIFY2(entry.contains(QString("Exec=weft-studio --action %1\n").arg(id)), id);
            QVERIFY2(actions.contains(QString("\"%1\"").arg(id)), id); // the studio knows it
        }
    }
};

WEFT_TEST(DesktopTest)
#include "desktop_test.moc"
