// SPDX-License-Identifier: GPL-3.0-or-later
// Where a report is put together: its blocks as a list, the words of the chosen one, and beside
// them the report as it will be read. It is kept while the studio is closed.
#pragma once

#include "ui/pages/runs/report/report_document.h"

#include <QTimer>
#include <QWidget>

#include <filesystem>

class QLineEdit;
class QListWidget;
class QPlainTextEdit;
class QPushButton;
class QTextBrowser;

namespace weft::widgets {
class SectionHeader;
} // namespace weft::widgets

namespace weft::ui {

class ReportPanel : public QWidget {
    Q_OBJECT
public:
    /// `file`: where it is kept.
    explicit ReportPanel(std::filesystem::path file, QWidget* parent = nullptr);
    ~ReportPanel() override;

    void add(ReportBlock block);
    const Report& report() const { return report_; }

signals:
    /// The table of runs as it is shown now is wanted as a block.
    void tableRequested();
    void chartsRequested();
    void written(bool well, const QString& text);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    QWidget* createBlocks();
    QWidget* createPreview();
    int chosen() const; // -1: none
    void fillList(int choose);
    void showChosen();
    void move(int by);
    void removeChosen();
    void edited();
    void showPreview();
    void keep();
    void exportAs(bool pdf);

    std::filesystem::path file_;
    Report report_;
    bool filling_ = false;
    QTimer renewing_;
    QLineEdit* title_;
    QListWidget* list_;
    QPlainTextEdit* text_;
    QPushButton* up_;
    QPushButton* down_;
    QPushButton* remove_;
    QPushButton* html_;
    QPushButton* pdf_;
    QTextBrowser* preview_;
};

} // namespace weft::ui
