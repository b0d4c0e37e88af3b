// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/launch/launch_support.h"

#include <fstream>

namespace weft::test {

std::vector<std::string> awkward_words() {
    return {"plain",  "",    "two words", "it's", "a\"b",      "$HOME `id` $(id)",
            "a\\b\\", "*?[", "-n",        "~",    "line\nend", "; echo x & #",
            "=a=b",   "!x",  "{a,b}",     "ä",    "'",         "''\\''"};
}

launch::LaunchRequest some_request() {
    launch::LaunchRequest out;
    out.name = "Fashion MLP";
    out.program = "/opt/my weft/weft";
    out.begin = {"train", "/data/it's a run.json", "--run-dir", "/runs/one of many",
                 "--set", "name=\"a b\""};
    out.go_on = {"resume", "/runs/one of many"};
    out.run_folder = "/runs/one of many";
    out.hosts = {{"a", 2, 2}, {"b", 1, 1}};
    out.master_addr = "a";
    out.master_port = 23456;
    out.secret = "00ff00ff";
    return out;
}

std::string write_program(const std::filesystem::path& path, const std::string& body) {
    std::ofstream(path) << "#!/bin/sh\n" << body;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path.string();
}

Ran run_words(const std::vector<std::string>& words, const std::string& in,
              const std::filesystem::path& path, const QStringList& variables,
              const std::optional<std::string>& later) {
    QProcess process;
    QStringList arguments;
    for (std::size_t i = 1; i < words.size(); ++i) {
        arguments << QString::fromStdString(words[i]);
    }
    QStringList environment = QProcess::systemEnvironment() + variables;
    QString program = QString::fromStdString(words.front());
    if (!path.empty()) {
        const QString folder = QString::fromStdString(path.string());
        environment << "PATH=" + folder + ":" + qEnvironmentVariable("PATH");
        const std::filesystem::path there = path / words.front();
        program = std::filesystem::exists(there) ? QString::fromStdString(there.string()) : program;
    }
    process.setEnvironment(environment);
    process.start(program, arguments);
    process.write(in.c_str(), static_cast<qint64>(in.size()));
    if (later) {
        process.waitForReadyRead(120000);
        process.write(later->c_str(), static_cast<qint64>(later->size()));
    }
    process.closeWriteChannel();
    Ran out;
    if (process.waitForFinished(120000) && process.exitStatus() == QProcess::NormalExit) {
        out.code = process.exitCode();
    }
    out.out = process.readAllStandardOutput().toStdString();
    out.error = process.readAllStandardError().toStdString();
    return out;
}

} // namespace weft::test
