// SPDX-License-Identifier: Apache-2.0
#include "core/data/opening.h"

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/data/dataset.h"

#include <algorithm>
#include <utility>

namespace weft::data {
namespace {

constexpr auto kBetween = std::chrono::milliseconds(200);
constexpr double kSlowSeconds = 1;
constexpr double kSecondsBetweenWords = 0.5;

} // namespace

double Opening::share() const {
    const double whole = static_cast<double>(total_bytes > 0 ? total_bytes : total);
    const double part = static_cast<double>(total_bytes > 0 ? bytes : done);
    const double this_pass = whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 0.0;
    return (pass - 1 + this_pass) / std::max(1, passes);
}

std::string to_text(const Opening& opening) {
    std::string out = shown(opening.name);
    if (opening.passes > 1) {
        out += ", pass " + std::to_string(opening.pass) + " of " + std::to_string(opening.passes);
    }
    out += ": " + format_thousands(opening.done) +
           (opening.total > 0 ? " of " + format_thousands(opening.total) : "") + " " + opening.unit;
    if (opening.total_bytes > 0) {
        out += ", " + format_bytes(opening.bytes) + " of " + format_bytes(opening.total_bytes);
    }
    return out;
}

OnOpening when_slow(std::function<void(const Opening&, double seconds)> say, const Clock* clock) {
    static const SystemClock system;
    const Clock& time = clock != nullptr ? *clock : system;
    return [say = std::move(say), &time, begun_s = time.steady_s(),
            said_s = time.steady_s()](const Opening& opening) mutable {
        const double now_s = time.steady_s();
        if (opening.pass == 1 && opening.done == 0) {
            begun_s = now_s;
        } else if (now_s - begun_s >= kSlowSeconds && now_s - said_s >= kSecondsBetweenWords) {
            said_s = now_s;
            say(opening, now_s - begun_s);
        }
    };
}

void end_if_stopped(const std::stop_token& stop) {
    if (stop.stop_requested()) {
        throw Error(ErrorKind::runtime, "data", "opening was stopped");
    }
}

OpeningWatch::OpeningWatch(const OpenContext& context, Opening start)
    : stop_(context.stop), on_(context.on_opening), opening_(std::move(start)),
      told_(std::chrono::steady_clock::now()) {
    end_if_stopped(stop_);
    tell(0, 0);
}

/// True for one caller whenever it is time again.
bool OpeningWatch::is_due() {
    const auto now = std::chrono::steady_clock::now();
    auto before = told_.load();
    return on_ && now - before >= kBetween && told_.compare_exchange_strong(before, now);
}

void OpeningWatch::tell(std::int64_t done, std::int64_t bytes) {
    const std::lock_guard guard(mutex_);
    opening_.done = done;
    opening_.bytes = bytes;
    if (on_) {
        on_(opening_);
    }
}

void OpeningWatch::reached(std::int64_t done, std::int64_t bytes) {
    end_if_stopped(stop_);
    if (is_due()) {
        tell(done, bytes);
    }
}

bool OpeningWatch::add_one() {
    const std::int64_t done = ++done_;
    if (is_due()) {
        tell(done, 0);
    }
    return !stop_.stop_requested();
}

} // namespace weft::data
