// SPDX-License-Identifier: GPL-3.0-or-later
// One host in the list: whether it answers, what it has, how far away it is.
#pragma once

#include "ui/bridge/hosts/host_book.h"
#include "widgets/controls/card.h"

namespace weft::widgets {
class Badge;
}

namespace weft::ui {

class MemoryRows;
class PartitionRows;

class HostCard : public widgets::Card {
    Q_OBJECT
public:
    explicit HostCard(QWidget* parent = nullptr);
    void setState(const HostState& state);
    QString name() const { return name_; }

private:
    QString name_;
    widgets::TextLabel* title_;
    widgets::Badge* badge_;
    widgets::TextLabel* has_; // processor; or why nothing is known
    MemoryRows* memory_;
    PartitionRows* partitions_;
    widgets::TextLabel* link_;  // "112 MB/s, 0.6 ms"
    widgets::TextLabel* lacks_; // what it lacks; hidden where it is nothing
};

} // namespace weft::ui
