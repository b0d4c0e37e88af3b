// SPDX-License-Identifier: Apache-2.0
// The scalars of a folder of TensorBoard event files, whole or as they are written by any program.
// Files are read in the order of their names, which begin with the time they were made: a restarted
// program goes on in a new file. A record that is not complete is waited for; one that is damaged
// is named.
#pragma once

#include "core/train/logging/tensorboard_event.h"

#include <filesystem>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft::train {

/// The points of one tag, in the order of their steps. Where a step lies before the last one the
/// program has gone back: what was there from that step on is dropped and counted.
struct ScalarSeries {
    std::string tag;
    std::vector<double> step;
    std::vector<double> time; // s, UTC epoch
    std::vector<double> value;
    std::size_t taken_back = 0;

    void add(double at_step, double at_time, double number);
    /// Drops what lies at this step or later.
    void take_back(double from_step);
};

/// What was written since the last look.
struct ScalarBatch {
    struct Point {
        int tag = 0; // in the order in which tags appeared; -1: every tag goes back to this step
        std::int64_t step = 0;
        double time = 0;
        double value = 0;
    };
    std::vector<std::string> tags; // new ones
    std::vector<Point> points;
    config::Json hparams;              // null while there are none
    std::vector<std::string> problems; // new ones: file, place, what is wrong
    bool more = false;                 // the limit was reached
};

/// Appends a batch to the series of those before it.
void append(std::vector<ScalarSeries>& series, const ScalarBatch& batch);

/// Whether the name is that of an event file, as TensorBoard sees it.
bool is_tensorboard_file(const std::filesystem::path& path);
/// The event files directly in a folder, by name.
std::vector<std::filesystem::path> tensorboard_files(const std::filesystem::path& folder);

/// One thread at a time.
class TensorboardReader {
public:
    explicit TensorboardReader(std::filesystem::path folder) : folder_(std::move(folder)) {}

    /// Everything complete that was not read yet; stops after about `limit` points (0: never).
    /// Throws weft::Error{data} when a file cannot be opened.
    ScalarBatch read(std::size_t limit = 0);

private:
    struct Source {
        std::int64_t offset = 0; // of the first record not read
        bool dead = false;       // no record can be found any more
    };
    struct Tag {
        int number = -1; // -1: no scalar of it yet
        std::string plugin;
    };

    void read_file(const std::filesystem::path& path, Source& source, std::size_t limit,
                   ScalarBatch& out);
    void take(const TensorboardEvent& event, const TensorboardValue& value, ScalarBatch& out);

    struct Hash : std::hash<std::string_view> {
        using is_transparent = void;
    };

    std::filesystem::path folder_;
    std::map<std::string, Source> sources_; // by file name
    std::unordered_map<std::string, Tag, Hash, std::equal_to<>> tags_;
    int tag_count_ = 0;
};

} // namespace weft::train
