// SPDX-License-Identifier: GPL-3.0-or-later
// Training: how the draft will be trained. Left the settings with what follows from them, right the
// learning rate over the run and the checkpoints that it will leave.
#pragma once

#include "ui/bridge/draft/run_outlook.h"
#include "ui/forms/form_source.h"
#include "ui/pages/page.h"

class QPushButton;
class QStackedWidget;
class QVBoxLayout;

namespace weft::widgets {
class EmptyState;
} // namespace weft::widgets

namespace weft::ui {

class DraftHeader;
class ProblemLines;

class RecipePage : public Page {
    Q_OBJECT
public:
    RecipePage(Studio& studio, Actions& actions);

    widgets::NavState navState() const override;
    bool editsDraft() const override { return true; }
    bool showField(const std::string& pointer) override;
    RunOutlook& outlook() { return outlook_; }

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    void createHeader();
    QWidget* createSettings();
    QWidget* createPictures();
    void addSection(QVBoxLayout* column, const QString& title, const QString& subtitle,
                    std::initializer_list<QWidget*> parts);
    void update();
    void updateUnfiled();
    void copyCommand();
    /// Problems of the draft in the sections of this page.

    Studio& studio_;
    Actions& actions_;
    FormSource source_;
    RunOutlook outlook_;
    DraftHeader* header_;
    QPushButton* copy_;
    QStackedWidget* stack_;
    widgets::EmptyState* message_;
    QPushButton* go_home_;
    QPushButton* edit_text_;
    ProblemLines* unfiled_ = nullptr; // problems of names that no field has
    QWidget* settings_ = nullptr;
    QWidget* pictures_ = nullptr;
};

} // namespace weft::ui
