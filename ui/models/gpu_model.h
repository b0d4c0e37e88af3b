// SPDX-License-Identifier: GPL-3.0-or-later
// The GPUs of this machine and how they are, a row each.
#pragma once

#include "ui/bridge/run/machine_facts.h"
#include "ui/models/table_model.h"

namespace weft::ui {

class GpuModel : public TableModel<GpuFacts> {
    Q_OBJECT
public:
    enum Column {
        NumberColumn,
        NameColumn,
        MemoryColumn,
        BusyColumn,
        PowerColumn,
        TemperatureColumn,
        ColumnCount
    };

    explicit GpuModel(QObject* parent = nullptr);

    void setGpus(std::vector<GpuFacts> gpus);
};

} // namespace weft::ui
