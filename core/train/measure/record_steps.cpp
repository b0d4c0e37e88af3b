// SPDX-License-Identifier: Apache-2.0
#include "core/train/measure/record_steps.h"

#include "core/base/check.h"

namespace weft::train {

RecordSteps::RecordSteps(exec::Executor& executor, std::unique_ptr<profile::StepRecorder> recorder,
                         std::int64_t first, std::int64_t count, exec::StepObserver* after)
    : executor_(executor), recorder_(std::move(recorder)), first_(first), count_(count),
      after_(after) {}

void RecordSteps::watch(bool on) {
    const auto devices = static_cast<int>(executor_.plan().mesh.devices());
    for (int device = 0; device < devices; ++device) {
        exec::StepObserver* before = device == 0 ? after_ : nullptr;
        executor_.set_observer(on ? &recorder_->observer(device) : before, device);
    }
    is_on_ = on;
}

void RecordSteps::begin_step(std::int64_t step) {
    if (recorder_ == nullptr || step < first_ || recorder_->steps() == count_) {
        return;
    }
    if (!is_on_) {
        watch(true);
    }
    recorder_->begin_step(step);
}

void RecordSteps::batch_ready() {
    if (is_on_) {
        recorder_->batch_ready();
    }
}

void RecordSteps::computed() {
    if (is_on_) {
        recorder_->computed();
    }
}

bool RecordSteps::end_step() {
    if (!is_on_) {
        return false;
    }
    recorder_->end_step();
    if (recorder_->steps() < count_) {
        return false;
    }
    watch(false);
    return true;
}

std::filesystem::path RecordSteps::write(const std::filesystem::path& folder,
                                         const std::string& run) {
    WEFT_CHECK(has_steps(), "a recording has steps");
    if (is_on_) {
        watch(false);
    }
    const std::unique_ptr<profile::StepRecorder> done = std::move(recorder_);
    return profile::write_recording(folder, done->recording(run));
}

} // namespace weft::train
