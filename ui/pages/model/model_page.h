// SPDX-License-Identifier: GPL-3.0-or-later
// Model: the network of the draft. Left its blocks, in the middle a graph of one level of them with
// shapes on the edges, right the settings of what is chosen; above, what it all comes to.
#pragma once

#include "ui/bridge/draft/model_outline.h"
#include "ui/bridge/draft/run_outlook.h"
#include "ui/bridge/newest_job.h"
#include "ui/forms/form_source.h"
#include "ui/pages/page.h"

class QScrollArea;
class QStackedWidget;
class QVBoxLayout;

namespace weft::widgets {
class Banner;
class EmptyState;
class FigureStrip;
class SectionHeader;
} // namespace weft::widgets

namespace weft::ui {

class DraftHeader;
class LayerTree;
class ModelTextPanel;
class ModelGraph;

class ModelPage : public Page {
    Q_OBJECT
public:
    ModelPage(Studio& studio, Actions& actions);

    widgets::NavState navState() const override;
    bool editsDraft() const override { return true; }
    bool showField(const std::string& pointer) override;
    /// Null while it is being made, and where there is no model.
    std::shared_ptr<const ModelOutline> outline() const { return outline_; }

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    QWidget* createChoice();
    QWidget* createParts();
    QWidget* createForm();
    void update();
    void makeOutline();
    void takeOutline(std::shared_ptr<const ModelOutline> outline);
    void refreshFigures();
    void refreshForm();
    void updateTrouble();
    void turnIntoText();

    Studio& studio_;
    FormSource source_;
    RunOutlook outlook_;
    DraftHeader* header_;
    QStackedWidget* stack_;
    widgets::EmptyState* message_;
    widgets::Banner* trouble_;
    widgets::FigureStrip* figures_;
    LayerTree* tree_;
    ModelGraph* graph_;
    ModelTextPanel* text_;
    QPushButton* as_text_;
    QScrollArea* form_scroll_;
    QWidget* init_;
    QWidget* form_ = nullptr;
    std::string form_pointer_;
    widgets::SectionHeader* form_header_;
    std::shared_ptr<const ModelOutline> outline_;
    std::string outlined_; // model and data that outline_ is of, or is being made of
    NewestJob outlining_{this};
};

} // namespace weft::ui
