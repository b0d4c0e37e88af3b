// SPDX-License-Identifier: GPL-3.0-or-later
// Model: the network of the draft. Left its blocks, in the middle a graph of one level of them with
// shapes on the edges, right the settings of what is chosen; above, what it all comes to.
#pragma once

#include "ui/bridge/model_outline.h"
#include "ui/bridge/run_outlook.h"
#include "ui/forms/form_source.h"
#include "ui/screens/screen.h"

class QPushButton;
class QScrollArea;
class QStackedWidget;
class QVBoxLayout;

namespace weft::widgets {
class Badge;
class Banner;
class EmptyState;
class FigureStrip;
class GraphScroll;
class SectionHeader;
} // namespace weft::widgets

namespace weft::ui {

class FieldFinder;
class LayerTree;

class ModelScreen : public Screen {
    Q_OBJECT
public:
    ModelScreen(Studio& studio, Actions& actions);

    widgets::NavState navState() const override;
    bool editsDraft() const override { return true; }
    bool showField(const std::string& pointer) override;
    /// Null while it is being made, and where there is no model.
    std::shared_ptr<const ModelOutline> outline() const { return outline_; }

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QWidget* createHeader();
    QWidget* createParts();
    QWidget* createGraph();
    QWidget* createForm();
    void update();
    void makeOutline();
    void takeOutline(std::shared_ptr<const ModelOutline> outline);
    void refreshFigures();
    void refreshGraph();
    void refreshForm();
    void enter(const std::string& path);

    Studio& studio_;
    Actions& actions_;
    FormSource source_;
    RunOutlook outlook_;
    widgets::Badge* badge_;
    FieldFinder* finder_;
    QStackedWidget* stack_;
    widgets::EmptyState* message_;
    widgets::Banner* trouble_;
    widgets::FigureStrip* figures_;
    LayerTree* tree_;
    widgets::SectionHeader* graph_header_;
    QPushButton* up_;
    widgets::GraphScroll* graph_;
    std::vector<std::string> nodes_; // path of each node of the graph
    std::string level_;              // whose blocks the graph shows
    QScrollArea* form_scroll_;
    QWidget* form_ = nullptr;
    std::string form_pointer_;
    widgets::SectionHeader* form_header_;
    std::shared_ptr<const ModelOutline> outline_;
    std::string outlined_; // model and data that outline_ is of, or is being made of
    std::int64_t job_ = 0;
};

} // namespace weft::ui
