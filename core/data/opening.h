// SPDX-License-Identifier: Apache-2.0
// How far the opening of data has come, told while it goes on, what there is to tell of it, and its
// end when a stop is asked for.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace weft {
class Clock;
}

namespace weft::data {

struct OpenContext;

/// One file or folder that is being read.
struct Opening {
    std::string name;             // of the file or folder, without the path to it
    std::string unit;             // what is counted, in the plural: "rows", "images"
    std::int64_t done = 0;        // of these
    std::int64_t total = 0;       // 0: not known
    std::int64_t bytes = 0;       // of the file that were read
    std::int64_t total_bytes = 0; // 0: not known, or not what takes the time
    int pass = 1;                 // it may have to be read more than once
    int passes = 1;

    /// How much of all passes is done, 0 to 1; 0 also where that is not known.
    double share() const;
};

/// A sentence about data that was opened.
struct Note : std::string {
    Note(std::string text) : std::string(std::move(text)) {}
    /// It says how the data is read, where there is nothing to mend.
    static Note decision(std::string text) {
        Note note(std::move(text));
        note.is_decision = true;
        return note;
    }
    bool is_decision = false; // otherwise something is skipped, missing or doubtful
};
using Notes = std::vector<Note>;

/// "prices.csv, pass 1 of 2: 412,000 rows, 38 MiB of 91 MiB"
std::string to_text(const Opening& opening);

/// Told when a pass begins, then five times a second at most; one call at a time, on threads that
/// read.
using OnOpening = std::function<void(const Opening&)>;

/// `say` hears of files that take longer than a second, twice a second, with the seconds since the
/// file was begun: small data are open before there is anything to say. `clock` must outlive what
/// is returned; null: the system's.
OnOpening when_slow(std::function<void(const Opening&, double seconds)> say,
                    const Clock* clock = nullptr);

/// Of one pass: tells how far it is and ends it when a stop is asked for.
class OpeningWatch {
public:
    OpeningWatch(const OpenContext& context, Opening start);

    /// For one thread that reads. Throws weft::Error{runtime} once a stop is asked for.
    void reached(std::int64_t done, std::int64_t bytes = 0);
    /// For several: one more is done. False once a stop is asked for.
    bool add_one();

private:
    bool is_due();
    void tell(std::int64_t done, std::int64_t bytes);

    std::stop_token stop_;
    OnOpening on_;
    std::mutex mutex_; // of what follows
    Opening opening_;
    std::atomic<std::int64_t> done_ = 0;
    std::atomic<std::chrono::steady_clock::time_point> told_;
};

/// For steps in between. Throws weft::Error{runtime} once a stop is asked for.
void end_if_stopped(const std::stop_token& stop);

} // namespace weft::data
