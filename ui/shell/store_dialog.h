// SPDX-License-Identifier: GPL-3.0-or-later
// Asks for the address of a run in an object store, and brings it here.
#pragma once

#include "ui/bridge/run/run_fetch.h"

#include <QDialog>
#include <QTimer>

class QLineEdit;
class QPushButton;

namespace weft::widgets {
class ProgressLine;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class StoreDialog : public QDialog {
    Q_OBJECT
public:
    /// Into the folder `runs`.
    StoreDialog(std::filesystem::path runs, const QString& address, QWidget* parent);

signals:
    /// The run is here.
    void fetched(const std::filesystem::path& run);

private:
    void fetch();
    void update();
    void say(const QString& text, bool is_problem);

    const std::filesystem::path runs_;
    RunFetch fetch_;
    QTimer watch_;
    QLineEdit* address_;
    widgets::TextLabel* says_;
    widgets::ProgressLine* progress_;
    QPushButton* start_;
};

} // namespace weft::ui
