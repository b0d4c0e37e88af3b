// SPDX-License-Identifier: GPL-3.0-or-later
// What the suites share: timing, and lines that say figure, target and ratio.
#pragma once

#include <QElapsedTimer>

#include <functional>
#include <string>
#include <vector>

namespace bench {

constexpr int kPatienceMs = 120000;
constexpr double kFrameMs = 1000.0 / 60;

/// Milliseconds that each of several calls takes; the call gets its number.
std::vector<double> timed(int times, const std::function<void(int)>& call);
/// Of one call.
double timed_once(const std::function<void()>& call);

/// Milliseconds since a clock was started.
double ms_since(const QElapsedTimer& clock);

/// Handles events until the condition holds; after kPatienceMs says what never came, and gives up.
bool wait_for(const char* what, const std::function<bool()>& condition);
/// As wait_for, without pauses between events, and paints what they made necessary.
bool show_until(const char* what, const std::function<bool()>& condition);
/// Handles events for so long.
void linger(int ms);
/// What is being waited for; empty when nothing is. Any thread.
std::string awaited();
/// Handles every event that is there.
void settle();

/// Resident memory of this process.
double resident_mib();

/// Heading of the figures that follow.
void section(const char* text);
/// "  what   median 1.2, p99 2.3, worst 3.4 ms  (target 5.0: x0.46)"; the ratio is of the p99.
void print(const char* what, std::vector<double> ms, double target);
/// "  what   12.3 MiB  (target 150.0: x0.08)".
void print(const char* what, double figure, const char* unit, double target);

} // namespace bench
