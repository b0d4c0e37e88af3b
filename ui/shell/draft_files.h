// SPDX-License-Identifier: GPL-3.0-or-later
// Where the draft comes from and goes to: the dialogs that ask for a file or folder.
#pragma once

#include <QObject>

#include <filesystem>

class QWidget;

namespace weft::ui {

class Studio;

class DraftFiles : public QObject {
    Q_OBJECT
public:
    /// Asks over `window`.
    DraftFiles(Studio& studio, QWidget& window);

    /// Presets are never written to: they ask for a place of their own, as a draft without one does.
    void save();
    /// `over`: the dialog that asks for it, else the window.
    void saveAs(QWidget* over = nullptr);
    /// The configuration of the run on screen becomes the draft and a file of the user's.
    void keepRun();
    void askForFile();
    void askForFolder();

signals:
    /// The user chose something to open.
    void chosen(const QString& path);
    void saved(const QString& name);
    void failed(const QString& problem);

private:
    /// Asks for a file to write a configuration to; empty: none was chosen.
    static std::filesystem::path askForPlace(QWidget* over, const QString& proposed);
    void write(const std::filesystem::path& path);
    /// The draft's own file; empty: it has none that may be written to.
    std::filesystem::path place() const;

    Studio& studio_;
    QWidget& window_;
};

} // namespace weft::ui
