// SPDX-License-Identifier: GPL-3.0-or-later
// Configurations, runs and checkpoints that were opened, the newest first: kept on disk, shared
// with other studios, read and written off the GUI thread.
#pragma once

#include <QObject>
#include <QThreadPool>

#include <filesystem>
#include <functional>
#include <vector>

namespace weft::ui {

class RecentPaths : public QObject {
    Q_OBJECT
public:
    struct Entry {
        std::filesystem::path path;
        bool there = true; // when it was last looked for
        bool operator==(const Entry&) const = default;
    };

    /// `file`: where they are kept.
    explicit RecentPaths(std::filesystem::path file, QObject* parent = nullptr);
    ~RecentPaths() override;

    const std::vector<Entry>& entries() const { return entries_; }
    /// Puts a path first; the oldest of too many goes.
    void add(const std::filesystem::path& path);
    void clear();
    /// Looks what other studios opened and which paths are still there; changed follows if it is
    /// news.
    void refresh();

signals:
    void changed();
    void failed(const QString& problem);

private:
    using Paths = std::vector<std::filesystem::path>;
    void renew(std::function<void(Paths&)> edit);

    std::filesystem::path file_;
    std::vector<Entry> entries_;
    int job_ = 0;      // of the newest look: older ones know less
    QThreadPool pool_; // one thread: what was asked last is what stays
};

} // namespace weft::ui
