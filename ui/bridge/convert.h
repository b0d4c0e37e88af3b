// SPDX-License-Identifier: GPL-3.0-or-later
// Engine values in the studio's words: strings, states, number formats.
#pragma once

#include "core/plan/plan.h"
#include "core/train/control/run_state.h"
#include "widgets/controls/pill.h"
#include "widgets/look/painting.h"
#include "widgets/views/memory_bar.h"

#include <QString>

#include <exception>
#include <filesystem>
#include <string_view>
#include <vector>

namespace weft::ui {

QString toQString(std::string_view text);
QString pathText(const std::filesystem::path& path);
std::filesystem::path toPath(const QString& text);
/// All that an exception says; of a weft::Error where it was and what to do, too.
QString faultText(const std::exception& fault);

widgets::RunState toWidget(train::RunState state);
widgets::MemoryCategory toWidget(plan::Category category);
/// A run's folder name without its date: "fashion-mlp_001".
QString runTitle(const std::filesystem::path& folder);
/// What the device must hold at the peak, by category, for a memory bar.
std::vector<widgets::MemorySegment> memorySegments(const plan::ExecutionPlan& plan);
/// What a GPU holds beside its arena: "next batch 1.5 MiB", "driver 512 MiB".
QStringList besideArena(std::int64_t landing_bytes, const plan::DeviceMemory& beside);

using widgets::formatCount;
using widgets::formatDuration;
using widgets::formatFileSize;
/// A loss or metric with three or four significant places, and in whole from a thousand on:
/// "0.238", "12.41", "1.3e-5", "15,230".
QString formatMetric(double value);
/// "validation mean absolute error" of "validation/mean_absolute_error".
QString metricWords(const std::string& metric);
/// "today 14:02", "yesterday", "Thu 20 Nov"
QString formatWhen(double utc_seconds);

} // namespace weft::ui
