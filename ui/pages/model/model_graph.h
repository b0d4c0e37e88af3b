// SPDX-License-Identifier: GPL-3.0-or-later
// One level of the draft's blocks as a graph, with shapes on the edges. A click chooses a block, a
// double click or Enter goes into it, Backspace comes back. Laid out off the GUI thread; a newer
// graph cancels what is under way.
#pragma once

#include "ui/bridge/draft/model_outline.h"
#include "ui/bridge/newest_job.h"
#include "widgets/controls/card.h"

class QPushButton;

namespace weft::widgets {
class GraphScroll;
class ProgressLine;
} // namespace weft::widgets

namespace weft::ui {

class ModelGraph : public widgets::Surface {
    Q_OBJECT
public:
    explicit ModelGraph(QWidget* parent = nullptr);

    /// An outline is being made: what is shown is of before.
    void expectOutline();
    void setOutline(std::shared_ptr<const ModelOutline> outline);
    /// Marks the block that has this layer path, or the one around it; empty: none. Goes to the
    /// level that shows it. Of `all` that are chosen those are marked, too, that this level shows.
    void choose(const std::string& path, const std::vector<std::string>& all);
    /// The block whose inside is shown; empty: the whole model.
    const std::string& level() const { return level_; }

signals:
    void blockChosen(const std::string& path);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    struct Drawing {
        widgets::Graph graph;
        widgets::GraphLayout layout;
        std::vector<std::string> paths; // block of each node
    };

    void enter(const std::string& path);
    void leave();
    void draw();
    void take(Drawing drawing);
    void mark();
    /// Where a block is drawn: itself, the one around it, or the one that stands for its equals.
    int nodeOf(const std::string& path) const;
    std::string pathAt(int node) const;

    widgets::SectionHeader* header_;
    QPushButton* up_;
    widgets::ProgressLine* progress_;
    widgets::GraphScroll* scroll_;
    std::shared_ptr<const ModelOutline> outline_;
    std::vector<std::string> paths_;
    std::string level_;
    std::string chosen_;
    std::vector<std::string> all_chosen_;
    NewestJob drawing_{this};
    bool fits_ = false; // the next drawing is shown as a whole
};

} // namespace weft::ui
