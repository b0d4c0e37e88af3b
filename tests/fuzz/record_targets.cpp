// SPDX-License-Identifier: Apache-2.0
// What runs of ours and of other programs say of themselves.
#include "core/base/error.h"
#include "core/train/logging/tensorboard_media.h"
#include "core/train/logging/tensorboard_reader.h"
#include "core/train/logging/tensorboard_writer.h"
#include "core/train/record/event_lines.h"
#include "core/train/record/run_folder.h"
#include "core/train/record/run_summary.h"
#include "tests/fuzz/target.h"

namespace weft::test {
namespace {

namespace fs = std::filesystem;

std::string three_scalars() {
    return train::scalar_event(1.7e9, 3,
                               {{"train/loss", 0.5}, {"validation/loss", 1e30}, {"lr", -0.0}});
}

void read_tensorboard(const std::string& bytes, const fs::path& folder) {
    put(folder, "events.out.tfevents.1700000000.host", bytes);
    train::TensorboardReader reader(folder);
    std::vector<train::ScalarSeries> series;
    train::ScalarBatch batch;
    do {
        batch = reader.read(2);
        train::append(series, batch);
    } while (batch.more);
    const train::MediaIndex index = train::index_media(folder);
    for (const train::MediaSeries& one : index.series) {
        for (const train::MediaPlace& place : one.places) {
            try {
                train::media_files(train::read_media(folder, one.kind, place));
            } catch (const Error&) {
                continue; // damaged within its record
            }
        }
    }
}

std::vector<std::string> tensorboard_seeds() {
    const std::string head = train::framed_record(train::version_event(1.7e9));
    const std::string record = train::framed_record(three_scalars());
    return {head + record + record + record, head};
}

/// The content of a record, with checksums that are right.
void read_tensorboard_record(const std::string& bytes, const fs::path& folder) {
    read_tensorboard(train::framed_record(bytes), folder);
    train::read_hparams(bytes);
}

std::vector<std::string> record_seeds() {
    return {three_scalars(), train::version_event(1.7e9)};
}

void read_events(const std::string& bytes, const fs::path& folder) {
    put(folder, "events.jsonl", bytes);
    train::EventReader(folder).read();
    train::EventLines lines(folder, 2);
    while (!lines.read(100).empty()) {
    }
    train::summarise_run(folder);
}

std::vector<std::string> events_seeds() {
    return {
        R"({"seq": 1, "time": 1.7e9, "event": "state", "state": "running", "reason": ""})"
        "\n"
        R"({"seq": 2, "time": 1.7e9, "event": "step", "step": 1, "epoch": 0.5, "loss": 2.5, )"
        R"("learning_rate": 0.1, "grad_norm": 1, "samples_per_s": 10, "step_ms": 3, )"
        R"("data_wait_ms": 0, "memory_bytes": 1024, "metrics": {"train/accuracy": 0.5}})"
        "\n"
        R"({"seq": 3, "time": 1.7e9, "event": "evaluation", "step": 1, )"
        R"("metrics": {"validation/loss": 2.25}})"
        "\n"
        R"({"seq": 4, "time": 1.7e9, "event": "checkpoint", "step": 1, "path": "x", "bytes": 9, )"
        R"("blocked_ms": 1, "write_ms": 2, "kept_for": ["latest"]})"
        "\n"
        R"({"seq": 5, "time": 1.7e9, "event": "state", "state": "finished", "reason": "done"})"
        "\n"};
}

} // namespace

const Target kTensorboardTarget{"tensorboard", read_tensorboard, tensorboard_seeds, {}};
const Target kTensorboardEventTarget{"tensorboard-event",
                                     read_tensorboard_record,
                                     record_seeds,
                                     {"scalars", "hparams", "_hparams_/session_start_info",
                                      std::string("\x0a\xff\xff\xff\xff\x0f", 6)}};
const Target kEventsTarget{"events",
                           read_events,
                           events_seeds,
                           {"\n", "null", "[]", "{}", "\"devices\"", "\"seq\": -1", "1e999",
                            "\"step\"", "\"metrics\": {", "\\ud800"}};

} // namespace weft::test
