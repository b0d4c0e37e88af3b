// SPDX-License-Identifier: Apache-2.0
#include "core/train/measure/record_steps.h"

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/text.h"

#include <algorithm>
#include <new>

namespace weft::train {

RecordSteps::RecordSteps(exec::Executor& executor, const std::filesystem::path& folder,
                         RunControl& control, const RunLock& lock, Make make,
                         std::int64_t most_calls, exec::StepObserver* after)
    : executor_(executor), folder_(folder), control_(control), lock_(lock), make_(std::move(make)),
      most_calls_(most_calls), after_(after) {}

void RecordSteps::order(std::int64_t first, std::int64_t count) {
    WEFT_CHECK(!is_ordered() && count > 0, "one recording of steps at a time");
    const std::int64_t each = std::max<std::int64_t>(1, profile::events_of_step(executor_.plan()));
    const std::int64_t room = most_calls_ / each;
    asked_ = count;
    first_ = first;
    count_ = std::min(count, room);
    cut_short_ = count_ == count
                     ? ""
                     : "a recording holds " + format_thousands(most_calls_) +
                           " calls, and a step of this run has " + format_thousands(each);
    if (room == 0) {
        tell({});
        return;
    }
    try {
        recorder_ = make_(count_);
    } catch (const std::bad_alloc&) {
        cut_short_ = "there is no memory for it";
        tell({});
    }
}

void RecordSteps::watch(bool on) {
    const auto devices = static_cast<int>(executor_.plan().mesh.devices());
    for (int device = 0; device < devices; ++device) {
        exec::StepObserver* before = device == 0 ? after_ : nullptr;
        executor_.set_observer(on ? &recorder_->observer(device) : before, device);
    }
    is_on_ = on;
}

void RecordSteps::begin_step(std::int64_t step) {
    if (!wants(step)) {
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

void RecordSteps::end_step() {
    if (is_on_) {
        recorder_->end_step();
        if (recorder_->steps() == count_) {
            write();
        }
    }
}

void RecordSteps::end(const std::string& why) {
    const std::int64_t ordered = control_.orders().record_steps;
    if (!is_ordered() && ordered == 0) {
        return;
    }
    cut_short_ = why;
    if (is_ordered() && recorder_->steps() > 0) {
        write();
        return;
    }
    asked_ = std::max(asked_, ordered);
    tell({});
}

void RecordSteps::write() {
    if (is_on_) {
        watch(false);
    }
    try {
        lock_.check();
        profile::Recording done = recorder_->recording(folder_.filename().string());
        recorder_.reset();
        done.asked_steps = asked_;
        done.cut_short = cut_short_;
        const auto file = profile::write_recording(folder_, done);
        tell({.step = done.steps.front().step,
              .steps = static_cast<std::int64_t>(done.steps.size()),
              .path = file.lexically_relative(folder_).string()});
    } catch (const Error& fault) {
        cut_short_ = "it was not written: " + fault.message();
        tell({});
    } catch (const std::bad_alloc&) {
        cut_short_ = "it was not written: there is no memory for it";
        tell({});
    }
}

void RecordSteps::tell(RecordingEvent event) {
    if (is_on_) {
        watch(false);
    }
    recorder_.reset();
    event.asked = asked_;
    event.cut_short = cut_short_;
    control_.end_recording();
    control_.emit(std::move(event));
}

} // namespace weft::train
