// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/studio_fixture.h"

#include "ui/bridge/convert.h"

#include <QFile>
#include <QTest>

#include <csignal>
#include <fstream>
#include <unistd.h>

namespace weft::test {

std::string tiny_config() {
    return R"({
  "schema_version": 1, "name": "tiny", "notes": "A tiny run for tests.", "seed": 3,
  "data": {"train": {"type": "synthetic", "kind": "classification", "features": 16, "classes": 4,
                     "samples": 4096}, "validation": {"split": 0.1}},
  "model": {"type": "mlp", "hidden": [32], "dropout": 0.1},
  "training": {"length": {"steps": 100000}, "global_batch_size": 32, "precision": "f32"},
  "evaluation": {"every": {"steps": 2000}, "samples": 0},
  "checkpoint": {"every": {"steps": 1000}, "on_improvement": false}
})";
}

StudioFixture::StudioFixture(const std::string& config) {
    std::filesystem::create_directories(root() / "presets");
    QFile file(ui::pathText(preset()));
    if (!file.open(QIODevice::WriteOnly)) {
        qFatal("the test folder cannot be written");
    }
    file.write(QByteArray::fromStdString(config));
    file.close();
    open();
}

// A worker outlives its studio; a test that failed must not leave one training.
StudioFixture::~StudioFixture() {
    window_.reset();
    studio_.reset();
    std::error_code none_started;
    for (const auto& run : std::filesystem::directory_iterator(root() / "runs", none_started)) {
        if (const auto lock = train::read_lock(run.path());
            lock && lock->pid > 0 && lock->pid != ::getpid()) {
            ::kill(static_cast<pid_t>(lock->pid), SIGKILL);
        }
    }
}

std::filesystem::path StudioFixture::calibration() {
    return std::filesystem::path(qEnvironmentVariable("XDG_CACHE_HOME").toStdString()) / "weft" /
           "calibration.json";
}

void StudioFixture::open() {
    theme_ = std::make_unique<widgets::ThemeController>();
    ui::StudioPaths paths{root() / "runs", root() / "presets", root() / "state", calibration(),
                          WEFT_PROGRAM};
    paths.counters = counters();
    paths.sockets = root() / "sockets";
    std::filesystem::create_directories(paths.sockets);
    std::filesystem::permissions(paths.sockets, std::filesystem::perms::owner_all);
    studio_ = std::make_unique<ui::Studio>(std::move(paths));
    ui::Preferences preferences = studio_->settings().values();
    preferences.reduced_motion = true; // nothing moves while it is looked at
    studio_->settings().set(preferences);
    window_ = std::make_unique<ui::MainWindow>(*studio_, *theme_);
    window_->show();
    studio_->bringBackDraft();
    studio_->index().refresh();
}

void StudioFixture::setMemoryKills(int count) {
    QFile file(ui::pathText(counters()));
    if (!file.open(QIODevice::WriteOnly)) {
        qFatal("the test folder cannot be written");
    }
    file.write("pgfault 18446744073709551615\noom_kill " + QByteArray::number(count) + "\n");
}

void StudioFixture::reopen() {
    window_->close();
    window_.reset();
    studio_.reset();
    theme_.reset();
    open();
}

QWidget* StudioFixture::find(const QString& object_name) const {
    auto* widget = window_->findChild<QWidget*>(object_name);
    if (widget == nullptr) {
        qFatal("no widget named %s", qPrintable(object_name));
    }
    return widget;
}

void StudioFixture::click(const QString& object_name) {
    QTest::mouseClick(find(object_name), Qt::LeftButton);
}

void StudioFixture::press(Qt::Key key, Qt::KeyboardModifiers modifiers) {
    window_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(window_.get()));
    QTest::keyClick(window_.get(), key, modifiers);
}

void write_file(const std::filesystem::path& path, const std::string& content) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
}

QString place_of(const QWidget* widget) {
    QStringList names;
    for (const QWidget* at = widget; at != nullptr && names.size() < 4; at = at->parentWidget()) {
        names << (at->objectName().isEmpty() ? at->metaObject()->className() : at->objectName());
    }
    return names.join(" in ");
}

} // namespace weft::test
