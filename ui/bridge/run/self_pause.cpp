// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/run/self_pause.h"

#include "ui/bridge/convert.h"

namespace weft::ui {

// The engine gives "on request" for what somebody asked for, and nothing after a single step or a
// save; it warns before it pauses for any other reason.
std::optional<SelfPause> selfPause(const RunModel& run) {
    const QString reason = run.stateReason();
    if (run.state() != train::RunState::paused || reason.isEmpty() ||
        reason == QLatin1String("on request")) {
        return std::nullopt;
    }
    SelfPause pause{reason, {}};
    if (!run.warnings().empty()) {
        const train::WarningEvent& warning = run.warnings().back();
        pause.detail =
            QStringLiteral("%1 %2").arg(toQString(warning.message), toQString(warning.hint));
    }
    return pause;
}

} // namespace weft::ui
