// SPDX-License-Identifier: Apache-2.0
#include "tests/support/weft_test.h"

#ifdef WEFT_TEST_WIDGETS
#include "ui/guarded_application.h"

#include <QStyleFactory>
#else
#include <QCoreApplication>
#endif
#include <QTemporaryDir>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace weft::test {
namespace {

struct Entry {
    std::string name;
    std::function<QObject*()> factory;
};

std::vector<Entry>& entries() {
    static std::vector<Entry> list;
    return list;
}

// Tests never touch the user's settings, caches or runs.
void use_private_directories(const QTemporaryDir& dir) {
    const std::pair<const char*, const char*> folders[] = {{"XDG_CONFIG_HOME", "config"},
                                                           {"XDG_DATA_HOME", "data"},
                                                           {"XDG_STATE_HOME", "state"},
                                                           {"XDG_CACHE_HOME", "cache"},
                                                           {"XDG_RUNTIME_DIR", "runtime"},
                                                           {"HOME", "home"}};
    for (const auto& [variable, folder] : folders) {
        const QString path = dir.filePath(QString::fromLatin1(folder));
        QDir().mkpath(path);
        QFile::setPermissions(path, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        qputenv(variable, path.toUtf8());
    }
}

/// Qt Test takes a function whose name ends in _data for the rows of another one, and runs it for
/// nothing else: one that is a test by mistake would never run. Says which, and returns how many.
int count_lost_functions(const QObject& test) {
    constexpr QByteArrayView kRows = "_data";
    const QMetaObject& about = *test.metaObject();
    int out = 0;
    for (int i = about.methodOffset(); i < about.methodCount(); ++i) {
        const QByteArray name = about.method(i).name();
        const QByteArray of = name.endsWith(kRows) ? name.chopped(kRows.size()) : QByteArray();
        if (!of.isEmpty() && of != "initTestCase" &&
            about.indexOfMethod(QByteArray(of + "()").constData()) < 0) {
            std::fprintf(stderr, "%s::%s has the name of rows of a test, and never runs\n",
                         about.className(), name.constData());
            ++out;
        }
    }
    return out;
}

} // namespace

bool register_test(const char* name, std::function<QObject*()> factory) {
    entries().push_back({name, std::move(factory)});
    return true;
}

} // namespace weft::test

// With a class name as first argument only that class runs; the rest goes to Qt Test. "-classes"
// prints the names.
int main(int argc, char** argv) {
    if (argc == 2 && std::string_view(argv[1]) == "-classes") {
        for (const auto& entry : weft::test::entries()) {
            std::puts(entry.name.c_str());
        }
        return 0;
    }
    QTemporaryDir dir;
    weft::test::use_private_directories(dir);
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) {
        qputenv("QT_QPA_PLATFORM", "offscreen");
    }
    qputenv("QT_FONT_DPI", "96");
    // Another one only where a test is about it.
    qputenv("LC_ALL", qEnvironmentVariable("WEFT_TEST_LOCALE", "C.UTF-8").toUtf8());
#ifdef WEFT_TEST_WIDGETS
    weft::ui::GuardedApplication application(argc, argv);
    application.setFaultListener([](const std::exception* fault) {
        QTest::qFail(fault != nullptr ? fault->what() : "an exception of no known type", __FILE__,
                     __LINE__);
    });
    QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
#else
    QCoreApplication application(argc, argv);
#endif
    std::vector<char*> arguments(argv, argv + argc);
    std::string only;
    if (argc > 1 && argv[1][0] != '-') {
        const auto& all = weft::test::entries();
        const auto found = std::find_if(all.begin(), all.end(),
                                        [&](const auto& entry) { return entry.name == argv[1]; });
        if (found != all.end()) {
            only = argv[1];
            arguments.erase(arguments.begin() + 1);
        }
    }
    int failed_classes = 0;
    for (const auto& entry : weft::test::entries()) {
        if (!only.empty() && entry.name != only) {
            continue;
        }
        const std::unique_ptr<QObject> test(entry.factory());
        const bool lost = weft::test::count_lost_functions(*test) > 0;
        const bool failed =
            QTest::qExec(test.get(), static_cast<int>(arguments.size()), arguments.data()) != 0;
        failed_classes += lost || failed ? 1 : 0;
    }
    return failed_classes;
}
