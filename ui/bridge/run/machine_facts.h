// SPDX-License-Identifier: GPL-3.0-or-later
// What this machine computes with, as `weft doctor --json` says it and events of runs go on. Values
// and pure functions.
#pragma once

#include "core/config/json.h"
#include "core/train/record/event.h"

#include <QString>
#include <QStringList>

#include <optional>
#include <utility>
#include <vector>

namespace weft::ui {

/// A GPU; what is not known is absent.
struct GpuFacts {
    int number = 0; // cuda:1
    QString name;
    std::int64_t memory_bytes = 0;
    std::optional<std::int64_t> used_bytes{}; // by all processes
    std::optional<double> utilisation{};      // 0 to 1
    std::optional<double> power_w{};
    std::optional<double> power_limit_w{};
    std::optional<double> temperature_c{};
    std::optional<bool> passed{}; // its self-test, if it was tested
    QString unknown; // why something is not known, in a sentence

    std::optional<std::int64_t> freeBytes() const;
};

struct GpuLink {
    int one = 0;
    int other = 0;
    QString text; // "4 NVLinks, PCIe by one PCIe switch"
};

struct LibraryFacts {
    QString name;
    QString version; // empty: it is missing
    QString missing; // why, and what to install
};

struct MachineFacts {
    QString cpu;
    int usable_cores = 0;
    int logical_cores = 0;
    std::int64_t memory_bytes = 0;
    std::int64_t memory_free_bytes = 0;
    std::vector<GpuFacts> gpus; // by their numbers
    std::vector<GpuLink> links;
    std::vector<LibraryFacts> libraries;
    QStringList missing; // why there are no GPUs, and what to install; sentences
};

/// Throws what reading JSON throws where the document is not what `weft doctor` writes.
MachineFacts machineFacts(const config::Json& doctor);
/// What a run said last of the GPUs that it uses, in place of what was found.
void takeNews(MachineFacts& facts, const train::DevicesEvent& event);
/// "cuda:0  NVIDIA H100 · 79.6 GiB, 71.2 GiB free"
QString gpuText(const GpuFacts& gpu);
/// Pairs that are joined alike: {"0-1, 2-3", "4 NVLinks"}, or {"every pair", ...}.
std::vector<std::pair<QString, QString>> linksAlike(const MachineFacts& facts);
/// Why no run can use GPUs here, in one line; empty: it can.
QString gpuProblem(const MachineFacts& facts);

} // namespace weft::ui
