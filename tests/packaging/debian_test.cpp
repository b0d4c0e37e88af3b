// SPDX-License-Identifier: Apache-2.0
// The Debian package holds what a desktop and a terminal need, depends on what it links, and works
// where it is unpacked.
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <QDir>
#include <QDirIterator>
#include <QProcess>
#include <QRegularExpression>
#include <QStandardPaths>

namespace {

using namespace weft::test;

constexpr int kPatienceMs = 600000; // symbols of both programs are stripped and all is packed
const QString kId = QStringLiteral("io.github.weft_studio.WeftStudio");

struct Result {
    int code = -1;
    QString out;
    QString err;
};

Result run(const QString& program, const QStringList& arguments) {
    QProcess process;
    process.start(program, arguments);
    Result result;
    if (process.waitForFinished(kPatienceMs) && process.exitStatus() == QProcess::NormalExit) {
        result.code = process.exitCode();
    }
    result.out = QString::fromUtf8(process.readAllStandardOutput());
    result.err = QString::fromUtf8(process.readAllStandardError());
    return result;
}

} // namespace

class DebianTest : public QObject, private TestFolder {
    Q_OBJECT

    QString package_;

    QString field(const QString& name) const {
        return run("dpkg-deb", {"--field", package_, name}).out.trimmed();
    }
    QString unpacked(const QString& file) const { return text("root/usr/") + file; }

private slots:
    void initTestCase() {
        for (const char* program : {"cpack", "dpkg-deb", "dpkg-shlibdeps", "readelf"}) {
            if (QStandardPaths::findExecutable(program).isEmpty()) {
                QSKIP(qPrintable(QString("%1 is not installed").arg(program)));
            }
        }
        const Result made = run("cpack", {"-G", "DEB", "--config",
                                          QStringLiteral(WEFT_BUILD_DIR "/CPackConfig.cmake"), "-B",
                                          text("packed")});
        QVERIFY2(made.code == 0, qPrintable(made.out + made.err));
        const QStringList files = QDir(text("packed")).entryList({"*.deb"});
        QCOMPARE(files.size(), qsizetype{1});
        package_ = text("packed/") + files.front();
        const Result extracted = run("dpkg-deb", {"--extract", package_, text("root")});
        QVERIFY2(extracted.code == 0, qPrintable(extracted.err));
    }

    void it_says_what_it_is() {
        QCOMPARE(field("Package"), QString("weft-studio"));
        QVERIFY2(field("Version").startsWith(WEFT_VERSION), qPrintable(field("Version")));
        QCOMPARE(field("Architecture"), run("dpkg", {"--print-architecture"}).out.trimmed());
        QVERIFY(!field("Maintainer").isEmpty());
        QVERIFY(!field("Description").isEmpty());
        QCOMPARE(field("Section"), QString("science"));
    }

    // Every library that a program names is of a package that it depends on.
    void it_depends_on_what_its_programs_link() {
        const QString depends = field("Depends");
        for (const char* program : {"bin/weft", "bin/weft-studio"}) {
            const Result read = run("readelf", {"--dynamic", unpacked(program)});
            QVERIFY2(read.code == 0, qPrintable(read.err));
            QVERIFY2(!read.out.contains("RUNPATH") && !read.out.contains("RPATH"), program);
            static const QRegularExpression needed("NEEDED.*\\[(lib[^\\]]+)\\]");
            for (auto found = needed.globalMatch(read.out); found.hasNext();) {
                const QString library = found.next().captured(1);
                const QString owners = run("dpkg-query", {"--search", "*/" + library}).out;
                QVERIFY2(!owners.isEmpty(), qPrintable(library));
                const QStringList lines = owners.split('\n', Qt::SkipEmptyParts);
                QVERIFY2(std::any_of(lines.begin(), lines.end(),
                                     [&](const QString& line) {
                                         return depends.contains(line.section(':', 0, 0));
                                     }),
                         qPrintable(library + " is of " + owners + ", not in " + depends));
            }
        }
    }

    // It starts where there is no NVIDIA library at all: the module alone names them.
    void only_the_module_names_nvidia_libraries() {
        static const QRegularExpression nvidia("NEEDED.*\\[lib(cu|nv|nccl)[^\\]]*\\]");
        for (const char* program : {"bin/weft", "bin/weft-studio"}) {
            const Result read = run("readelf", {"--dynamic", unpacked(program)});
            QCOMPARE(read.code, 0);
            QVERIFY2(!nvidia.match(read.out).hasMatch(), qPrintable(read.out));
        }
        for (const char* one : {"Depends", "Recommends", "Pre-Depends"}) {
            static const QRegularExpression package(
                "\\b(lib)?(cuda|cublas|cudnn|nccl|nvidia|nvrtc)");
            QVERIFY2(!package.match(field(one)).hasMatch(), qPrintable(field(one)));
        }
        if (WEFT_HAS_CUDA_TOOLKIT == 0) {
            QSKIP("this build has no CUDA module");
        }
        const Result module =
            run("readelf", {"--dynamic", unpacked("lib/weft/weft-backend-cuda.so")});
        QCOMPARE(module.code, 0);
        QVERIFY2(nvidia.match(module.out).hasMatch(), qPrintable(module.out));
        for (const char* library : {"libcublas-13-0", "libcudnn9-cuda-13", "libnccl2"}) {
            QVERIFY2(field("Suggests").contains(library), qPrintable(field("Suggests")));
        }
    }

    void every_file_is_where_a_desktop_looks_for_it() {
        QStringList wanted{"bin/weft",
                           "bin/weft-studio",
                           "share/man/man1/weft.1.gz",
                           "share/man/man5/weft-events.5.gz",
                           "share/man/man1/weft-studio.1.gz",
                           "share/applications/" + kId + ".desktop",
                           "share/metainfo/" + kId + ".metainfo.xml",
                           "share/mime/packages/" + kId + ".xml",
                           "lib/python3/dist-packages/weft_reader/__init__.py",
                           "share/icons/hicolor/scalable/apps/" + kId + ".svg"};
        for (const char* type :
             {"application-vnd.weft.run+json", "application-vnd.weft.checkpoint"}) {
            wanted << QString("share/icons/hicolor/scalable/mimetypes/%1.svg").arg(type);
        }
        const QStringList presets =
            QDir(QStringLiteral(WEFT_SOURCE_DIR "/resources/presets")).entryList({"*.json"});
        QVERIFY(!presets.isEmpty());
        for (const QString& preset : presets) {
            wanted << "share/weft/presets/" + preset;
        }
        for (const QString& file : wanted) {
            const QFileInfo info(unpacked(file));
            QVERIFY2(info.isFile() && info.size() > 0, qPrintable(file));
        }
        QVERIFY(QFileInfo(unpacked("bin/weft")).isExecutable());
        QVERIFY(QFileInfo(unpacked("bin/weft-studio")).isExecutable());
    }

    // Nothing of the machine that made it; nobody but root owns a file.
    void it_holds_nothing_else() {
        const QStringList lines =
            run("dpkg-deb", {"--contents", package_}).out.split('\n', Qt::SkipEmptyParts);
        QVERIFY(lines.size() > 10);
        static const QRegularExpression allowed(QRegularExpression::anchoredPattern(
            "\\./(usr/(bin/(weft|weft-studio)?|lib/(weft/(weft-backend-cuda\\.so)?|python3/"
            "(dist-packages/("
            "weft_reader/"
            "([a-z0-9_]+\\.py)?)?)?)?|share/"
            "((applications|metainfo|mime|icons|weft|doc|man)/.*)?)?)?"));
        for (const QString& line : lines) {
            QVERIFY2(line.contains("root/root"), qPrintable(line));
            const QString path = line.section(QRegularExpression("\\s+"), 5, 5);
            QVERIFY2(allowed.match(path).hasMatch(), qPrintable(line));
        }
        const QString doc = unpacked("share/doc");
        QDirIterator at(doc, QDir::Files, QDirIterator::Subdirectories);
        QStringList documents;
        while (at.hasNext()) {
            documents << QFileInfo(at.next()).fileName();
        }
        for (const char* license : {"LICENSE", "Apache-2.0.txt", "GPL-3.0-or-later.txt"}) {
            QVERIFY2(documents.contains(license), qPrintable(documents.join(", ")));
        }
    }

    void its_desktop_entry_starts_a_program_that_it_holds() {
        QFile entry(unpacked("share/applications/" + kId + ".desktop"));
        QVERIFY(entry.open(QFile::ReadOnly));
        const QString text = QString::fromUtf8(entry.readAll());
        static const QRegularExpression exec("^Exec=(\\S+)", QRegularExpression::MultilineOption);
        int programs = 0;
        for (auto found = exec.globalMatch(text); found.hasNext(); ++programs) {
            QVERIFY(QFileInfo(unpacked("bin/" + found.next().captured(1))).isExecutable());
        }
        QVERIFY(programs > 0);
    }

    void its_programs_run_where_they_are_unpacked() {
        for (const char* program : {"bin/weft", "bin/weft-studio"}) {
            const Result version = run(unpacked(program), {"--version"});
            QVERIFY2(version.code == 0, qPrintable(version.err));
            QVERIFY2(version.out.contains(WEFT_VERSION), qPrintable(version.out));
        }
        const Result checked =
            run(unpacked("bin/weft"), {"check", unpacked("share/weft/presets/waves-mlp.json")});
        QVERIFY2(checked.code == 0, qPrintable(checked.out + checked.err));
    }
};

WEFT_TEST(DebianTest)
#include "debian_test.moc"
