// SPDX-License-Identifier: GPL-3.0-or-later
// The programs of the draft after each pass: as text, searched and narrowed to a layer, and as a
// graph of a layer's ops. Made when somebody looks, in the background.
#pragma once

#include "ui/bridge/newest_job.h"
#include "ui/bridge/plan/program_trace.h"

#include <QWidget>

#include <memory>
#include <vector>

class QComboBox;
class QLineEdit;
class QStackedWidget;
class QStandardItemModel;
class QTableView;

namespace weft::widgets {
class EmptyState;
class GraphScroll;
class LineView;
class SectionHeader;
class SegmentedControl;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class PlanPreview;
struct PlanDigest;

class ProgramPanel : public QWidget {
    Q_OBJECT
public:
    explicit ProgramPanel(PlanPreview& preview, QWidget* parent = nullptr);

    void focusSearch();

protected:
    void showEvent(QShowEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QWidget* createPasses();
    QWidget* createText();
    void arrangeSides();
    void arrangePasses();
    void request();
    void take(std::shared_ptr<const std::vector<ProgramTrace>> traces, const QString& problem);
    const PassText* current() const;
    void showProgram();
    void showPass();
    void fillLayers();
    void narrow();
    void search(int step);
    void drawGraph();

    PlanPreview& preview_;
    std::shared_ptr<const std::vector<ProgramTrace>> traces_;
    std::shared_ptr<const PlanDigest> of_; // the plan that the traces belong to, or are asked for
    NewestJob tracing_{this};
    NewestJob drawing_{this};

    QSplitter* splitter_;
    QComboBox* program_;
    QStandardItemModel* pass_model_;
    QTableView* passes_;
    widgets::SectionHeader* header_;
    widgets::SegmentedControl* form_;
    QComboBox* layer_;
    QLineEdit* search_;
    widgets::TextLabel* found_;
    QStackedWidget* stack_;
    widgets::LineView* text_;
    widgets::GraphScroll* graph_;
    widgets::EmptyState* message_;
};

} // namespace weft::ui
