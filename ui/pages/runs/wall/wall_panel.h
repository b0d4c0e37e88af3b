// SPDX-License-Identifier: GPL-3.0-or-later
// The chart wall: every metric of the runs that a table shows, in charts that share one legend, one
// x axis and one crosshair.
#pragma once

#include "ui/pages/runs/wall/wall_cell.h"

#include <QTimer>
#include <QWidget>

class QComboBox;
class QLineEdit;
class QPushButton;
class QScrollArea;
class QStackedWidget;
class QVBoxLayout;

namespace weft::widgets {
class ChartLink;
class EmptyState;
class SectionHeader;
} // namespace weft::widgets

namespace weft::ui {

class ChartControls;
class WallGroup;
class WallValues;

/// How somebody looks at it: what a saved view keeps.
struct WallState {
    QString search;
    QStringList folded; // names of groups
    XAxis axis = XAxis::Step;
    double smoothing = 0.6;
    bool log = false;
    bool outliers_clipped = false;
    int lines = 0; // the entry of the choice of runs, mean and range, mean and deviation

    friend bool operator==(const WallState&, const WallState&) = default;
};

class WallPanel : public QWidget {
    Q_OBJECT
public:
    WallPanel(RunCurves& curves, RunLooks& looks, QWidget* parent = nullptr);
    ~WallPanel() override;

    WallState state() const;
    void setState(const WallState& state);
    /// Drawn over the others in every chart; empty: none.
    void highlight(const std::filesystem::path& run);
    /// The charts that can be seen now, in order.
    std::vector<WallCell*> visibleCells() const;
    const std::vector<WallCell*>& cells() const { return cells_; }
    /// Of lines that wait to be read or drawn, none.
    bool isSettled() const;
    /// The chart that has the focus, or the first, alone on the screen, or back in its place.
    void toggleFullScreen();

signals:
    void exported(bool well, const QString& text);
    /// Somebody wants this chart in a report.
    void reportRequested(WallCell* cell);

protected:
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QWidget* createControls();
    QPushButton* addToggle(const char* name, const QString& text, const QString& tip);
    void followRuns();
    void fillGroups();
    WallCell* cellOf(const std::string& metric);
    WallOptions options() const;
    void applyOptions();
    void applyLook();
    void look();
    void feed();
    void showValues();
    void showPlace(std::optional<double> x);
    QString placeWords(double x) const;
    void fit();

    RunCurves& curves_;
    RunLooks& looks_;
    std::vector<std::string> metrics_; // that the listed runs have
    std::vector<WallCell*> cells_;     // of those, in the order of the groups
    std::map<std::string, WallCell*> known_;
    std::vector<WallGroup*> groups_;
    QStringList folded_;
    std::vector<WallCell*> listed_; // in the table of values
    std::filesystem::path highlighted_;
    widgets::ChartLink* link_;
    QTimer feeding_;
    QTimer looking_; // after scrolling, folding, resizing
    QTimer valuing_; // the table of values, once for many changes
    widgets::SectionHeader* header_;
    ChartControls* controls_;
    QLineEdit* search_;
    QPushButton* log_;
    QPushButton* outliers_;
    QComboBox* lines_;
    QStackedWidget* stack_;
    widgets::EmptyState* empty_;
    QScrollArea* scroll_;
    QVBoxLayout* column_;
    WallValues* values_;
    bool settled_ = true;
};

} // namespace weft::ui
