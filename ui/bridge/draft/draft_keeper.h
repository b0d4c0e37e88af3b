// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps the draft on disk while it is edited, so that neither closing the studio nor a crash loses
// an edit, and brings it back. Studios that are open at the same time keep one file each: a new one
// goes on with what was written last and belongs to nobody, so that no draft is ever left behind.
#pragma once

#include <QObject>
#include <QTimer>

#include <filesystem>
#include <memory>

class QLockFile;

namespace weft::ui {

class Draft;

class DraftKeeper : public QObject {
    Q_OBJECT
public:
    /// Keeps `draft` in a file of `folder` from now on.
    DraftKeeper(Draft& draft, const std::filesystem::path& folder, QObject* parent = nullptr);
    /// Writes what is not yet written.
    ~DraftKeeper() override;

    /// Makes the draft what the file holds. Returns what is wrong with the file, or an empty
    /// string, also when there is none: then the draft stays as it is.
    QString bringBack();

signals:
    /// The draft cannot be kept; said once until it works again.
    void failed(const QString& problem);

private:
    /// Whether the file is nobody else's.
    bool claim(const std::filesystem::path& file);
    void write();

    Draft& draft_;
    std::filesystem::path file_;
    std::unique_ptr<QLockFile> lock_; // of the file
    QTimer settle_;                   // writes when the editing pauses
    bool failing_ = false;
};

} // namespace weft::ui
