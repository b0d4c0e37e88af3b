// SPDX-License-Identifier: GPL-3.0-or-later
// The blocks of the draft's model as a tree. Those of a sequential model are added, copied, moved
// (one dragged, several by Alt and arrow keys) and deleted here; those of other models are only
// looked at.
#pragma once

#include "ui/bridge/draft/layer_edit.h"
#include "ui/bridge/draft/model_outline.h"
#include "ui/forms/form_source.h"
#include "ui/pages/model/row_tree.h"

class QMenu;
class QPushButton;

namespace weft::ui {

class LayerTree : public QWidget {
    Q_OBJECT
public:
    LayerTree(FormSource& source, Draft& draft, QWidget* parent = nullptr);

    /// Shapes and parameters come with the outline; null: not known yet.
    void setOutline(std::shared_ptr<const ModelOutline> outline);
    /// Of the chosen row: "/model/layers/3"; "/model" for the whole and where nothing can be
    /// edited.
    std::string pointer() const;
    /// Layer path of the chosen row; empty: the whole.
    std::string path() const;
    /// Of all rows that are selected, from above.
    std::vector<std::string> paths() const;
    void choosePath(const std::string& path);
    bool choosePointer(const std::string& pointer);

signals:
    void chosen();

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    static constexpr const char* kModel = "/model";
    static constexpr const char* kLayers = "/model/layers";

    void rebuild();
    void fillLayers(QTreeWidgetItem* parent, const std::vector<LayerNode>& nodes);
    void fillBlocks(QTreeWidgetItem* parent, const std::string& path);
    void describe(QTreeWidgetItem* item) const;
    void fillAddMenu();
    void updateButtons();
    void change(const config::Json& model, const std::string& choose);
    void add(const std::string& type);
    void addBranch();
    void duplicate();
    void remove();
    void shift(int by);
    void convert();
    void moved(QTreeWidgetItem* row, QTreeWidgetItem* parent, int index);
    /// Layers that are selected, from above, none of them inside another.
    std::vector<std::string> selectedLayers() const;
    /// Where they are in the one list that all of them are in; empty: there is no such list.
    std::vector<std::size_t> placesInList() const;
    void selectLayers(const std::string& list, const std::vector<std::size_t>& places);
    static std::string pointerOf(const QTreeWidgetItem* item);
    config::Json model() const;
    bool editable() const;
    /// The list that a row's children are in; empty: it has none.
    std::string listOf(QTreeWidgetItem* item) const;

    FormSource& source_;
    Draft& draft_;
    std::shared_ptr<const ModelOutline> outline_;
    config::Json shown_; // model section that the rows are of
    RowTree* tree_;
    QMenu* add_menu_;
    QPushButton* add_;
    QPushButton* duplicate_;
    QPushButton* remove_;
    QPushButton* up_;
    QPushButton* down_;
    QPushButton* convert_;
    bool filling_ = false;
};

} // namespace weft::ui
