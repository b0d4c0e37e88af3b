// SPDX-License-Identifier: Apache-2.0
#include "core/base/stage_meter.h"

#include "core/base/check.h"

#include <utility>

namespace weft {
namespace {

thread_local StageMeter* running_meter = nullptr;

} // namespace

StageMeter::StageMeter(const Clock& clock) : clock_(clock), since_s_(clock.steady_s()) {
    WEFT_CHECK(running_meter == nullptr, "one meter at a time on a thread");
    running_meter = this;
}

StageMeter::~StageMeter() {
    running_meter = nullptr;
}

Stage StageMeter::enter(Stage stage) {
    const double now_s = clock_.steady_s();
    seconds_[static_cast<std::size_t>(stage_)] += now_s - std::exchange(since_s_, now_s);
    return std::exchange(stage_, stage);
}

StageSeconds StageMeter::seconds() {
    enter(stage_);
    return seconds_;
}

InStage::InStage(Stage stage) : meter_(running_meter) {
    if (meter_ != nullptr) {
        before_ = meter_->enter(stage);
    }
}

InStage::~InStage() {
    if (meter_ != nullptr) {
        meter_->enter(before_);
    }
}

} // namespace weft
