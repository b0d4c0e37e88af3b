// SPDX-License-Identifier: Apache-2.0
// The offline folder of a run for Weights & Biases, which `wandb sync` uploads:
// wandb/offline-run-20260102_030405-<id>/run-<id>.wandb, records of the protocol buffer
// wandb_internal.Record in the framing of LevelDB's log ("LevelDB Log format"), except that the
// checksums are plain CRC-32 and the file begins with ":W&B" (wandb 0.17:
// sdk/internal/datastore.py). Nothing is sent anywhere.
#pragma once

#include "core/base/file.h"
#include "core/config/json.h"
#include "core/train/record/event.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace weft::train {

struct WandbRun {
    std::string project;
    std::string id; // of the run, over all its sessions
    std::string name;
    std::string notes;
    std::vector<std::string> tags;
    std::string host;
    config::Json config;
};

/// Records in frames of blocks of 32 KiB.
class LevelLog {
public:
    explicit LevelLog(const Path& file);
    void add(std::string_view record);

private:
    void put(std::string_view part, std::uint8_t kind);

    File file_;
    std::int64_t at_ = 0;
};

/// One session of a run. Throws weft::Error{runtime} when it cannot be written.
class WandbWriter {
public:
    /// `folder` is <run>/wandb.
    WandbWriter(const Path& folder, const WandbRun& run, double now);
    /// As a session that failed, unless it was finished.
    ~WandbWriter();
    WandbWriter(const WandbWriter&) = delete;
    WandbWriter& operator=(const WandbWriter&) = delete;

    void add(double time, std::int64_t step, const Metrics& values);
    /// The last values, and that the session ended well or not.
    void finish(bool well);

private:
    static Path file_of(const Path& folder, const std::string& id, double now);

    double begun_;
    double last_ = 0;
    LevelLog log_;
    std::map<std::string, double> newest_;
    std::int64_t records_ = 0;
    bool finished_ = false;
};

/// An id that Weights & Biases takes: letters, digits, '-', '_'; at most 64.
std::string wandb_id(std::string_view run_name);

} // namespace weft::train
