// SPDX-License-Identifier: GPL-3.0-or-later
// The partitions of a host with Slurm: a square for each node, or for several where there are many.
#pragma once

#include "core/hosts/partitions.h"

#include <QWidget>

#include <vector>

class QVBoxLayout;

namespace weft::ui {

class PartitionRows : public QWidget {
    Q_OBJECT
public:
    explicit PartitionRows(QWidget* parent = nullptr);
    void setPartitions(const std::vector<hosts::Partition>& partitions);

private:
    QVBoxLayout* column_;
    std::vector<hosts::Partition> shown_;
};

} // namespace weft::ui
