// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/run/machine_facts.h"

#include "ui/bridge/convert.h"

#include <QCoreApplication>

#include <algorithm>

namespace weft::ui {
namespace {

using config::Json;

struct MachineText {
    Q_DECLARE_TR_FUNCTIONS(MachineText)
};

QString textAt(const Json& object, const char* key) {
    return toQString(object.at(key).get<std::string>());
}

template <class Number>
std::optional<Number> known(const Json& object, const char* key) {
    return object.contains(key) ? std::optional(object.at(key).get<Number>()) : std::nullopt;
}

GpuFacts gpuFacts(const Json& gpu, int number) {
    return {number,
            textAt(gpu, "name"),
            gpu.at("memory_bytes").get<std::int64_t>(),
            known<std::int64_t>(gpu, "memory_used_bytes"),
            known<double>(gpu, "utilisation"),
            known<double>(gpu, "power_w"),
            known<double>(gpu, "power_limit_w"),
            known<double>(gpu, "temperature_c"),
            known<bool>(gpu, "passed"),
            gpu.contains("unknown") ? textAt(gpu, "unknown") : QString()};
}

GpuLink gpuLink(const Json& link) {
    const int nvlinks = link.at("nvlinks").get<int>();
    const QString path = textAt(link, "path");
    QStringList parts;
    if (nvlinks > 0) {
        parts << MachineText::tr("%n NVLink(s)", nullptr, nvlinks);
    }
    if (!path.isEmpty()) {
        parts << MachineText::tr("PCIe by %1").arg(path);
    }
    return {link.at("between").at(0).get<int>(), link.at("between").at(1).get<int>(),
            parts.join(MachineText::tr(", "))};
}

} // namespace

std::optional<std::int64_t> GpuFacts::freeBytes() const {
    return used_bytes ? std::optional(memory_bytes - *used_bytes) : std::nullopt;
}

MachineFacts machineFacts(const Json& doctor) {
    MachineFacts facts;
    const Json& cpu = doctor.at("cpu");
    facts.cpu = textAt(cpu, "name");
    facts.usable_cores = cpu.at("usable_cores").get<int>();
    facts.logical_cores = cpu.at("logical_cores").get<int>();
    facts.memory_bytes = doctor.at("memory_bytes").get<std::int64_t>();
    facts.memory_free_bytes = doctor.at("memory_free_bytes").get<std::int64_t>();
    const Json& cuda = doctor.at("cuda");
    for (const Json& gpu : cuda.at("devices")) {
        facts.gpus.push_back(gpuFacts(gpu, static_cast<int>(facts.gpus.size())));
    }
    for (const Json& link : cuda.at("links")) {
        facts.links.push_back(gpuLink(link));
    }
    for (const Json& library : cuda.at("libraries")) {
        facts.libraries.push_back(
            {textAt(library, "name"), textAt(library, "version"), textAt(library, "missing")});
    }
    for (const Json& missing : cuda.at("missing")) {
        facts.missing << toQString(missing.get<std::string>());
    }
    return facts;
}

void takeNews(MachineFacts& facts, const train::DevicesEvent& event) {
    for (const train::DevicesEvent::Device& device : event.devices) {
        if (!device.gpu || static_cast<std::size_t>(device.gpu->number) >= facts.gpus.size()) {
            continue;
        }
        GpuFacts& gpu = facts.gpus[static_cast<std::size_t>(device.gpu->number)];
        gpu.used_bytes = device.gpu->memory_used_bytes;
        gpu.utilisation = device.gpu->utilisation;
        gpu.power_w = device.gpu->power_w;
        gpu.power_limit_w = device.gpu->power_limit_w;
        gpu.temperature_c = device.gpu->temperature_c;
    }
}

QString gpuText(const GpuFacts& gpu) {
    const QString memory = widgets::formatMemory(gpu.memory_bytes);
    return gpu.freeBytes()
               ? MachineText::tr("cuda:%1  %2 · %3, %4 free")
                     .arg(gpu.number)
                     .arg(gpu.name, memory, widgets::formatMemory(*gpu.freeBytes()))
               : MachineText::tr("cuda:%1  %2 · %3, how much of it is free is not known")
                     .arg(gpu.number)
                     .arg(gpu.name, memory);
}

std::vector<std::pair<QString, QString>> linksAlike(const MachineFacts& facts) {
    std::vector<std::pair<QString, QStringList>> kinds;
    for (const GpuLink& link : facts.links) {
        const QString pair = QStringLiteral("%1-%2").arg(link.one).arg(link.other);
        const auto kind = std::ranges::find(kinds, link.text, &decltype(kinds)::value_type::first);
        if (kind == kinds.end()) {
            kinds.push_back({link.text, {pair}});
        } else {
            kind->second << pair;
        }
    }
    const std::size_t pairs = facts.gpus.size() * (facts.gpus.size() - 1) / 2;
    std::vector<std::pair<QString, QString>> out;
    for (const auto& [text, joined] : kinds) {
        const bool all = pairs > 1 && static_cast<std::size_t>(joined.size()) == pairs;
        out.emplace_back(all ? MachineText::tr("every pair") : joined.join(MachineText::tr(", ")),
                         text);
    }
    return out;
}

QString gpuProblem(const MachineFacts& facts) {
    return facts.gpus.empty() ? facts.missing.join(MachineText::tr("; ")) : QString();
}

} // namespace weft::ui
