// SPDX-License-Identifier: GPL-3.0-or-later
// Data: what a run trains on. Settings at the left, samples as training sees them in the middle,
// what they are and whether they are sound at the right.
#pragma once

#include "ui/bridge/data/data_preview.h"
#include "ui/forms/form_source.h"
#include "ui/pages/page.h"

#include <functional>

class QPushButton;
class QStackedWidget;

namespace weft::widgets {
class ProgressLine;
class SegmentedControl;
} // namespace weft::widgets

namespace weft::ui {

class DataSamplePanel;
class EditorPanel;
struct BuiltIn;

class DataPage : public Page {
    Q_OBJECT
public:
    DataPage(Studio& studio, Actions& actions);

    widgets::NavState navState() const override;
    void activated() override;
    bool editsDraft() const override { return true; }
    bool showField(const std::string& pointer) override;
    DataPreview& preview() { return preview_; }

    /// Asks for a file or a folder; tests replace the dialog by an answer.
    std::function<QString(const QString& title, bool folder)> askForPath;

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    QWidget* createHeader();
    QWidget* createEmpty();
    QWidget* createContent();
    QWidget* createSettings();
    QWidget* createFacts();
    void update();
    void updateSplits();
    bool isText() const;
    void updateProgress();
    void take(const BuiltIn& set);
    void takeSuggested(const config::Json& document);
    void locate();

    Studio& studio_;
    FormSource form_source_;
    DataPreview preview_;
    widgets::SegmentedControl* split_;
    QPushButton* exporting_;
    widgets::ProgressLine* progress_;
    QStackedWidget* stack_;
    EditorPanel* tokenizer_; // of text
    DataSamplePanel* samples_;
};

} // namespace weft::ui
