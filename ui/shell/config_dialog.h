// SPDX-License-Identifier: GPL-3.0-or-later
// The draft as text: every problem is underlined at its field and listed below, an edit is checked
// at once and is the draft. What Problems leads to, for every field that has no form.
#pragma once

#include <QDialog>
#include <QTimer>

class QListWidget;
class QPlainTextEdit;

namespace weft::widgets {
class ElidedLabel;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class Draft;

class ConfigDialog : public QDialog {
    Q_OBJECT
public:
    explicit ConfigDialog(Draft& draft, QWidget* parent = nullptr);

    /// Comes to the front with the field of this JSON pointer selected.
    void showField(const QString& pointer);
    /// Makes what is being typed an edit of the draft now, before something else changes it.
    void takeTyping();

signals:
    /// The draft as it stands is to be written to a file.
    void saveAsRequested();

protected:
    void changeEvent(QEvent* event) override;
    void closeEvent(QCloseEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QWidget* createHead();
    QWidget* createFoot();
    void applyTheme();
    void followDraft();
    void takeEdit();
    void markProblems();
    void selectField(const QString& pointer);

    Draft& draft_;
    QPlainTextEdit* editor_;
    QListWidget* problems_;
    widgets::ElidedLabel* file_;
    widgets::TextLabel* position_;
    widgets::TextLabel* verdict_;
    std::string followed_;                // the draft's text when it was last looked at
    std::filesystem::path followed_path_; // and where it came from
    QTimer settle_; // an edit is checked when the typing pauses
};

} // namespace weft::ui
