// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/hosts/memory_rows.h"

#include "ui/bridge/convert.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/style.h"
#include "widgets/views/memory_unit.h"

#include <QGridLayout>
#include <QProgressBar>

#include <optional>

namespace weft::ui {
namespace {

using config::Json;
using widgets::Role;
using widgets::TextStyle;

constexpr int kBarWidth = 44;
constexpr int kBarHeight = 6;
constexpr int kFull = 1000;

struct MemoryOf {
    QString name;
    std::int64_t bytes = 0;
    std::optional<std::int64_t> used;
};

std::optional<std::int64_t> bytesIn(const Json& of, const char* key) {
    return of.is_object() && of.contains(key) && of.at(key).is_number()
               ? std::optional(of.at(key).get<std::int64_t>())
               : std::nullopt;
}

/// Without what all of them are called.
QString gpuModel(const Json& gpu) {
    QString name = gpu.is_object() && gpu.contains("name") && gpu.at("name").is_string()
                       ? toQString(gpu.at("name").get<std::string>())
                       : MemoryRows::tr("GPU");
    for (const char* maker : {"NVIDIA ", "GeForce ", "Tesla "}) {
        name.remove(QLatin1String(maker));
    }
    return name;
}

std::vector<MemoryOf> memoriesOf(const Json& doctor) {
    std::vector<MemoryOf> out;
    if (const auto bytes = bytesIn(doctor, "memory_bytes"); bytes && *bytes > 0) {
        MemoryOf own{MemoryRows::tr("memory"), *bytes, {}};
        if (const auto free = bytesIn(doctor, "memory_free_bytes")) {
            own.used = *bytes - *free;
        }
        out.push_back(std::move(own));
    }
    const Json cuda = doctor.value("cuda", Json::object());
    const Json gpus = cuda.value("devices", Json::array());
    for (std::size_t i = 0; i < gpus.size(); ++i) {
        if (const auto bytes = bytesIn(gpus[i], "memory_bytes"); bytes && *bytes > 0) {
            out.push_back({MemoryRows::tr("%1 · %2").arg(i).arg(gpuModel(gpus[i])), *bytes,
                           bytesIn(gpus[i], "memory_used_bytes")});
        }
    }
    return out;
}

} // namespace

MemoryRows::MemoryRows(QWidget* parent) : QWidget(parent) {
    grid_ = new QGridLayout(this);
    grid_->setContentsMargins(0, 0, 0, 0);
    grid_->setHorizontalSpacing(widgets::space::kControl);
    grid_->setVerticalSpacing(2);
    grid_->setColumnStretch(0, 1);
}

MemoryRows::Row& MemoryRows::row(std::size_t number) {
    while (rows_.size() <= number) {
        Row made{new widgets::ElidedLabel({}, TextStyle::Caption, Role::Muted), new QProgressBar,
                 new widgets::TextLabel({}, TextStyle::Caption)};
        made.bar->setFixedSize(kBarWidth, kBarHeight);
        made.bar->setTextVisible(false);
        made.bar->setRange(0, kFull);
        made.text->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
        const int line = static_cast<int>(rows_.size());
        grid_->addWidget(made.name, line, 0);
        grid_->addWidget(made.bar, line, 1, Qt::AlignVCenter);
        grid_->addWidget(made.text, line, 2);
        rows_.push_back(made);
    }
    return rows_[number];
}

void MemoryRows::setDoctor(const Json& doctor) {
    const std::vector<MemoryOf> memories = memoriesOf(doctor);
    for (std::size_t i = 0; i < memories.size(); ++i) {
        const MemoryOf& memory = memories[i];
        Row& own = row(i);
        const widgets::MemoryUnit unit(memory.bytes);
        const QString whole = unit.text(memory.bytes);
        const QString text =
            memory.used ? tr("%1 of %2").arg(unit.figure(*memory.used), whole) : whole;
        own.name->setText(memory.name);
        own.text->setText(text);
        own.bar->setValue(static_cast<int>(memory.used.value_or(0) * kFull / memory.bytes));
        own.bar->setAccessibleName(tr("%1: %2 used").arg(memory.name, text));
    }
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const bool needed = i < memories.size();
        rows_[i].name->setVisible(needed);
        rows_[i].bar->setVisible(needed && memories[i].used.has_value());
        rows_[i].text->setVisible(needed);
    }
    setVisible(!memories.empty());
}

} // namespace weft::ui
