// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/checkpoints/run_tree.h"

#include "ui/bridge/convert.h"
#include "ui/bridge/run/run_facts.h"
#include "ui/bridge/run/run_index.h"
#include "ui/pages/open_folders.h"
#include "widgets/look/icon.h"

#include <QContextMenuEvent>
#include <QHeaderView>
#include <QMenu>
#include <QSignalBlocker>

#include <algorithm>

namespace weft::ui {
namespace {

enum RunTreeRole { PathRole = Qt::UserRole, WeightsRole };
constexpr int kRunTreeIndent = 12;

bool lies_in(const std::filesystem::path& path, const std::filesystem::path& folder) {
    const std::filesystem::path below = path.lexically_relative(folder);
    return !below.empty() && *below.begin() != "..";
}

} // namespace

RunTree::RunTree(RunIndex& index, QWidget* parent) : QTreeWidget(parent), index_(index) {
    setObjectName("runTree");
    setAccessibleName(tr("Folders"));
    setHeaderHidden(true);
    setIndentation(kRunTreeIndent);
    setFrameShape(QFrame::NoFrame);
    setUniformRowHeights(true);
    setTextElideMode(Qt::ElideMiddle);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    connect(this, &QTreeWidget::currentItemChanged, this, [this](QTreeWidgetItem* item) {
        if (item == nullptr || item->data(0, PathRole).isNull()) {
            return; // a group
        }
        selected_ = toPath(item->data(0, PathRole).toString());
        item->data(0, WeightsRole).toBool() ? emit weightsChosen(selected_)
                                            : emit runChosen(selected_);
    });
}

QTreeWidgetItem* RunTree::addGroup(const QString& title, const std::filesystem::path& folder) {
    auto* group = new QTreeWidgetItem(this, {title});
    group->setIcon(0, widgets::icon("folder"));
    group->setToolTip(0, pathText(folder));
    group->setFlags(Qt::ItemIsEnabled);
    return group;
}

void RunTree::addRun(QTreeWidgetItem& group, const train::RunSummary& run) {
    auto* item = new QTreeWidgetItem(&group, {nameOf(run)});
    const bool good = run.problem.empty() && run.state != "failed";
    item->setIcon(0, !good ? widgets::icon("warning", widgets::Role::Warning)
                           : widgets::icon(run.last_checkpoint_step >= 0 ? "checkpoint" : "train"));
    item->setData(0, PathRole, pathText(run.folder));
    item->setToolTip(0, run.problem.empty() ? pathText(run.folder) : toQString(run.problem));
}

void RunTree::fill() {
    const QSignalBlocker blocker(this);
    clear();
    QTreeWidgetItem* own = addGroup(toQString(index_.root().filename().string()), index_.root());
    std::vector<std::pair<std::filesystem::path, QTreeWidgetItem*>> groups;
    for (const std::filesystem::path& folder : index_.openedFolders()) {
        const bool file = folder.extension() == ".safetensors";
        groups.emplace_back(file ? folder.parent_path() : folder, nullptr);
    }
    const auto group_of = [&](const std::filesystem::path& path) -> QTreeWidgetItem& {
        for (auto& [folder, group] : groups) {
            if (lies_in(path, folder)) {
                group = group != nullptr ? group
                                         : addGroup(toQString(folder.filename().string()), folder);
                return *group;
            }
        }
        return *own;
    };
    for (const train::RunSummary& run : index_.runs()) {
        const bool in_root = run.folder.parent_path() == index_.root();
        if (!run.annotations.archived || run.folder == selected_) {
            addRun(in_root ? *own : group_of(run.folder), run);
        }
    }
    for (const std::filesystem::path& file : index_.weights()) {
        auto* item = new QTreeWidgetItem(&group_of(file), {toQString(file.filename().string())});
        item->setIcon(0, widgets::icon("file"));
        item->setData(0, PathRole, pathText(file));
        item->setData(0, WeightsRole, true);
        item->setToolTip(0, pathText(file));
    }
    expandAll();
    applyFilter();
    select(selected_);
}

void RunTree::select(const std::filesystem::path& path) {
    const QSignalBlocker blocker(this);
    selected_ = path;
    const QString wanted = pathText(path);
    for (int i = 0; i < topLevelItemCount(); ++i) {
        for (int k = 0; k < topLevelItem(i)->childCount(); ++k) {
            QTreeWidgetItem* item = topLevelItem(i)->child(k);
            if (item->data(0, PathRole).toString() == wanted) {
                setCurrentItem(item);
                return;
            }
        }
    }
}

// Over a group: whatever was opened of it.
void RunTree::contextMenuEvent(QContextMenuEvent* event) {
    const bool by_key = event->reason() == QContextMenuEvent::Keyboard;
    QTreeWidgetItem* item = by_key ? currentItem() : itemAt(event->pos());
    if (item == nullptr) {
        return;
    }
    auto* menu = new QMenu(this);
    menu->setObjectName("folderMenu");
    menu->setAttribute(Qt::WA_DeleteOnClose);
    const auto closed_one = [this](const QString& text) { emit closed(text); };
    const QVariant path = item->data(0, PathRole);
    if (!path.isNull()) {
        addCloseAction(*menu, index_, toPath(path.toString()), closed_one);
    } else if (item->childCount() > 0) {
        std::vector<std::filesystem::path> offered;
        for (int i = 0; i < item->childCount(); ++i) {
            const auto child = toPath(item->child(i)->data(0, PathRole).toString());
            const auto opened = openedFolderOf(index_, child);
            if (std::find(offered.begin(), offered.end(), opened) == offered.end()) {
                offered.push_back(opened);
                addCloseAction(*menu, index_, child, closed_one);
            }
        }
    }
    if (menu->isEmpty()) {
        delete menu; // the folder of runs itself
    } else {
        menu->popup(by_key ? viewport()->mapToGlobal(visualItemRect(item).bottomLeft())
                           : event->globalPos());
    }
}

void RunTree::setFilter(const QString& text) {
    filter_ = text;
    applyFilter();
}

void RunTree::applyFilter() {
    for (int i = 0; i < topLevelItemCount(); ++i) {
        for (int k = 0; k < topLevelItem(i)->childCount(); ++k) {
            QTreeWidgetItem* item = topLevelItem(i)->child(k);
            item->setHidden(!item->text(0).contains(filter_, Qt::CaseInsensitive));
        }
    }
}

} // namespace weft::ui
