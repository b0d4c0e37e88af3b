// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/recent_paths.h"

#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QLockFile>
#include <QSaveFile>

#include <algorithm>
#include <utility>

namespace weft::ui {
namespace {

constexpr std::size_t kMostRecent = 10;
constexpr int kRecentLockMs = 2000; // others hold it for one small file

using RecentList = std::vector<std::filesystem::path>;

RecentList readRecent(const std::filesystem::path& file_name) {
    RecentList paths;
    QFile file(pathText(file_name));
    if (file.open(QIODevice::ReadOnly)) {
        for (const QJsonValue& path : QJsonDocument::fromJson(file.readAll()).array()) {
            paths.push_back(toPath(path.toString()));
        }
    }
    return paths;
}

bool writeRecent(const std::filesystem::path& file_name, const RecentList& paths) {
    QJsonArray list;
    for (const std::filesystem::path& path : paths) {
        list.append(pathText(path));
    }
    QSaveFile file(pathText(file_name));
    return file.open(QIODevice::WriteOnly) && file.write(QJsonDocument(list).toJson()) >= 0 &&
           file.commit();
}

struct RecentLook {
    std::vector<RecentPaths::Entry> entries;
    bool kept = true;
};

RecentLook lookAtRecent(const std::filesystem::path& file,
                        const std::function<void(RecentList&)>& edit) {
    QLockFile lock(pathText(file) + ".lock");
    RecentLook out;
    const bool locked = !edit || lock.tryLock(kRecentLockMs);
    RecentList paths = readRecent(file);
    if (edit) {
        edit(paths);
        out.kept = locked && writeRecent(file, paths);
    }
    for (const std::filesystem::path& path : paths) {
        std::error_code ignored;
        out.entries.push_back({path, std::filesystem::exists(path, ignored)});
    }
    return out;
}

void putFirst(RecentList& paths, const std::filesystem::path& path) {
    std::erase(paths, path);
    paths.insert(paths.begin(), path);
    paths.resize(std::min(paths.size(), kMostRecent));
}

} // namespace

RecentPaths::RecentPaths(std::filesystem::path file, QObject* parent)
    : QObject(parent), file_(std::move(file)) {
    pool_.setMaxThreadCount(1);
    refresh();
}

RecentPaths::~RecentPaths() {
    pool_.waitForDone(); // what was opened last is kept, too
}

void RecentPaths::add(const std::filesystem::path& path) {
    const std::filesystem::path whole = std::filesystem::absolute(path).lexically_normal();
    renew([whole](Paths& paths) { putFirst(paths, whole); });
}

void RecentPaths::clear() {
    renew([](Paths& paths) { paths.clear(); });
}

void RecentPaths::refresh() {
    renew({});
}

void RecentPaths::renew(std::function<void(Paths&)> edit) {
    runInBackground(
        this, [file = file_, edit = std::move(edit)] { return lookAtRecent(file, edit); },
        [this, job = ++job_](RecentLook look) {
            if (!look.kept) {
                emit failed(tr("%1 cannot be written: what was opened is forgotten when the studio "
                               "is closed.")
                                .arg(pathText(file_)));
            }
            if (job == job_ && look.entries != entries_) {
                entries_ = std::move(look.entries);
                emit changed();
            }
        },
        &pool_);
}

} // namespace weft::ui
