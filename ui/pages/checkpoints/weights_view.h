// SPDX-License-Identifier: GPL-3.0-or-later
// A file or folder of weights that another program wrote: what is in it, what becomes of each array
// in the draft's model, and a run that starts from it.
#pragma once

#include "ui/bridge/draft/draft.h"
#include "ui/bridge/draft/weights_match.h"
#include "ui/bridge/newest_job.h"
#include "widgets/controls/card.h"

class QLabel;
class QPushButton;
class QStackedWidget;
class QStandardItemModel;
class QTableView;

namespace weft::widgets {
class EmptyState;
} // namespace weft::widgets

namespace weft::ui {

class WeightsView : public widgets::Surface {
    Q_OBJECT
public:
    /// `draft` is followed, and outlives it.
    explicit WeightsView(const Draft& draft, QWidget* parent = nullptr);

    /// Reads the table of contents in the background.
    void open(const std::filesystem::path& file);
    const std::filesystem::path& file() const { return file_; }

signals:
    /// The draft should start from this file.
    void startRequested(const std::filesystem::path& file);

private:
    void look();
    void show(const WeightsMatch& match);
    QString summary(const WeightsMatch& match) const;

    const Draft& draft_;
    std::filesystem::path file_;
    widgets::SectionHeader* header_;
    QPushButton* start_;
    QLabel* trouble_;
    QStackedWidget* stack_;
    widgets::EmptyState* message_;
    QStandardItemModel* model_;
    QTableView* table_;
    NewestJob job_{this};
};

} // namespace weft::ui
