// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps the draft on disk while it is edited, so that neither closing the studio nor a crash loses
// an edit, and brings it back.
#pragma once

#include <QObject>
#include <QTimer>

#include <filesystem>

namespace weft::ui {

class Draft;

class DraftKeeper : public QObject {
    Q_OBJECT
public:
    /// Keeps `draft` in `file` from now on.
    DraftKeeper(Draft& draft, std::filesystem::path file, QObject* parent = nullptr);
    /// Writes what is not yet written.
    ~DraftKeeper() override;

    /// Makes the draft what the file holds. Returns what is wrong with the file, or an empty
    /// string, also when there is none: then the draft stays as it is.
    QString bringBack();

signals:
    /// The draft cannot be kept; said once until it works again.
    void failed(const QString& problem);

private:
    void write();

    Draft& draft_;
    std::filesystem::path file_;
    QTimer settle_; // writes when the editing pauses
    bool failing_ = false;
};

} // namespace weft::ui
