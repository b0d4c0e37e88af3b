// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/draft/weights_match.h"

#include "core/base/error.h"
#include "core/train/planning.h"
#include "core/train/warm_start.h"
#include "ui/bridge/convert.h"

#include <QCoreApplication>

#include <algorithm>

namespace weft::ui {
namespace {

using Fate = WeightsRow::Fate;

Fate fateOf(foreign::Fate fate) {
    switch (fate) {
    case foreign::Fate::taken: return Fate::Taken;
    case foreign::Fate::turned: return Fate::Transposed;
    case foreign::Fate::joined: return Fate::Joined;
    case foreign::Fate::missing: return Fate::Missing;
    case foreign::Fate::misfit: return Fate::Mismatched;
    case foreign::Fate::unused: return Fate::Unexpected;
    }
    return Fate::Unmatched;
}

void list(const foreign::Arrays& arrays, WeightsMatch& out) {
    out.arrays = static_cast<std::int64_t>(arrays.list.size());
    for (const foreign::Array& array : arrays.list) {
        out.bytes += array.type ? array.type->bytes() : 0;
        out.rows.push_back({Fate::Unmatched, toQString(array.name), toQString(array.text), {}, {}});
    }
}

void match(const std::filesystem::path& weights, const compile::RunConfig& draft,
           const std::stop_token& stop, WeightsMatch& out) {
    const auto config =
        compile::with_overrides(draft, {"init.from=" + config::Json(weights.string()).dump()});
    if (!config) {
        return;
    }
    const data::SampleInfo sample = train::outline_run_data(*config, {}, stop).sample;
    const train::WarmStart start =
        train::match_start_weights(*config, train::start_weights_of(*config, sample));
    out.rows.clear();
    for (const foreign::MatchRow& row : start.match.rows) {
        out.rows.push_back({fateOf(row.fate), toQString(row.theirs), toQString(row.there),
                            toQString(row.ours), toQString(row.here)});
    }
    std::stable_sort(out.rows.begin(), out.rows.end(),
                     [](const auto& a, const auto& b) { return a.fate < b.fate; });
    out.matched = true;
    const foreign::Family* family = start.match.family;
    out.names = family != nullptr ? toQString(family->help) : QString("Weft");
    for (const std::string& difference : start.differences) {
        out.differences.push_back(toQString(difference));
    }
    const bool strict = config->section("init").at("strict").get<bool>();
    if (const auto refused = train::refusal_of(start, strict)) {
        out.refusal = toQString(refused->text());
    }
}

} // namespace

int WeightsMatch::count(Fate fate) const {
    return static_cast<int>(std::count_if(rows.begin(), rows.end(),
                                          [&](const WeightsRow& row) { return row.fate == fate; }));
}

QString fateText(Fate fate) {
    const auto tr = [](const char* text) {
        return QCoreApplication::translate("WeightsMatch", text);
    };
    switch (fate) {
    case Fate::Missing: return tr(QT_TRANSLATE_NOOP("WeightsMatch", "missing"));
    case Fate::Mismatched: return tr(QT_TRANSLATE_NOOP("WeightsMatch", "mismatched"));
    case Fate::Unexpected: return tr(QT_TRANSLATE_NOOP("WeightsMatch", "unexpected"));
    case Fate::Transposed: return tr(QT_TRANSLATE_NOOP("WeightsMatch", "transposed"));
    case Fate::Joined: return tr(QT_TRANSLATE_NOOP("WeightsMatch", "joined"));
    case Fate::Taken: return tr(QT_TRANSLATE_NOOP("WeightsMatch", "taken"));
    case Fate::Unmatched: return {};
    }
    return {};
}

WeightsMatch matchWeights(const std::filesystem::path& weights,
                          const std::optional<compile::RunConfig>& draft,
                          const std::stop_token& stop) {
    WeightsMatch out;
    try {
        list(foreign::open_weights(weights), out);
    } catch (const Error& error) {
        out.problem = toQString(error.message());
        return out;
    }
    try {
        if (draft) {
            match(weights, *draft, stop, out);
        }
    } catch (const Error&) { // the draft's data or model: its own pages say what is wrong
        out.matched = false;
    }
    return out;
}

} // namespace weft::ui
