// SPDX-License-Identifier: Apache-2.0
#include "core/train/inside/look_inside.h"

#include "core/base/error.h"

#include <new>

namespace weft::train {

LookInside::LookInside(exec::Executor& executor, const std::filesystem::path& folder,
                       RunControl& control, const RunLock& lock,
                       std::function<void(const Watched&, const InsideLook&)> seen)
    : executor_(executor), folder_(folder), control_(control), lock_(lock), seen_(std::move(seen)) {
}

void LookInside::give_up(const std::string& why, const std::string& hint) {
    works_ = false;
    watch_.reset();
    control_.emit(WarningEvent{"The run does not look inside its network: " + why, hint});
}

void LookInside::begin() {
    try {
        if (!watch_) {
            watch_.emplace(executor_);
            writer_.emplace(folder_, watch_->watched());
        }
        watch_->begin();
    } catch (const std::bad_alloc&) {
        give_up("there is no memory for it.", "It trains on.");
    }
}

void LookInside::drop() {
    if (is_on()) {
        watch_->drop();
    }
}

void LookInside::end(std::int64_t step, std::int64_t samples, double loss_scale) {
    if (!is_on()) {
        return;
    }
    try {
        const InsideLook look = watch_->end(step, samples, loss_scale);
        if (lock_.place() == RunLock::Place::ours) {
            writer_->add(look);
            seen_(watch_->watched(), look);
        }
    } catch (const Error& fault) {
        give_up("what it saw was not written: " + fault.message(),
                "Free some disk space. It looks again when the run is resumed.");
    } catch (const std::bad_alloc&) {
        give_up("there is no memory for it.", "It trains on.");
    }
}

} // namespace weft::train
